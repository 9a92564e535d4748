// Package probe reads what an operation costs from the kernel: CPU time and
// context switches of a process tree, CPU time of the host and of everything
// that is neither server nor client, and the fingerprint of the host.
package probe
