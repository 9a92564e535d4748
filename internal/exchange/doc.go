// Package exchange reads and writes the files of other tools.
package exchange
