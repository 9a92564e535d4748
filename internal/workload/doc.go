// Package workload is the catalogue: benchmarks and suites as data, the schema
// and rows that they run on, the distributions that keys are drawn from, and the
// sessions that run a benchmark on one connection of the measured path.
//
// A benchmark is one entry of the catalogue: steps of SQL with typed arguments
// and the answer that each must give. Bind turns it into a Session for one
// connection; Session.Run does one event without allocating. Whatever is drawn,
// rows and keys alike, is a pure function of seeds, so it is the same on every
// family and every target. docs/WORKLOADS.md describes each benchmark.
package workload
