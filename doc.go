// Package dbcanary holds the nouns of dbcanary, a program that tells whether a
// database got slower: builds, targets, benchmarks, runs, trials, comparisons
// and verdicts, and the errors that decide the exit code.
//
// Data flows one way:
//
//	plan -> builds -> servers -> slices -> trials -> store -> comparisons -> report
//
// A trial never knows a report, statistics do no I/O, and a report is a pure
// function of stored trials. The package imports the standard library only and
// does no I/O; docs/ARCHITECTURE.md shows the other rooms of the house.
package dbcanary
