// Package changepoint finds where the level of a series of measurements shifts.
package changepoint
