package probe

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary"
)

// CPUPlan gives the CPUs that a server and the client with so many threads may
// run on, out of those that this process may: for same both get the same CPUs, as
// many as there are threads; for split each gets half of the cores, the server the
// larger half, and SMT siblings stay together; for free both are nil, which means
// all. Split on a single core is an error with CodeUnavailable.
func CPUPlan(placement dbcanary.Placement, threads int) (server, client []int, err error) {
	if placement == dbcanary.PlacementFree {
		return nil, nil, nil
	}
	cores, err := system{"/"}.allowedCores()
	if err != nil {
		return nil, nil, err
	}
	return planCPUs(placement, threads, cores)
}

// allowedCores gives the CPUs that this thread may run on by physical core,
// neighbours next to each other.
func (s system) allowedCores() ([][]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read which CPUs may be used: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return s.cores(cpus), nil
}

// cores groups CPUs by physical core, ordered by package and then by CPU. A CPU
// whose topology the kernel does not show is a core of its own.
func (s system) cores(cpus []int) [][]int {
	type core struct {
		pkg  string
		cpus []int
	}
	var cores []core
	done := map[int]bool{}
	for _, cpu := range cpus {
		if done[cpu] {
			continue
		}
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		pkg, _ := s.read(dir + "physical_package_id")
		text, _ := s.read(dir + "thread_siblings_list")
		siblings, err := parseCPUList(text)
		if err != nil || !slices.Contains(siblings, cpu) {
			siblings = []int{cpu}
		}
		next := core{pkg: pkg}
		for _, sibling := range siblings {
			if slices.Contains(cpus, sibling) && !done[sibling] {
				done[sibling] = true
				next.cpus = append(next.cpus, sibling)
			}
		}
		cores = append(cores, next)
	}
	slices.SortStableFunc(cores, func(a, b core) int {
		return cmp.Or(cmp.Compare(len(a.pkg), len(b.pkg)), cmp.Compare(a.pkg, b.pkg))
	})
	var grouped [][]int
	for _, c := range cores {
		grouped = append(grouped, c.cpus)
	}
	return grouped
}

func planCPUs(placement dbcanary.Placement, threads int, cores [][]int) (server, client []int, err error) {
	switch placement {
	case dbcanary.PlacementSame:
		all := slices.Concat(cores...)
		slices.Sort(all)
		shared := all[:min(max(1, threads), len(all))]
		return shared, slices.Clone(shared), nil
	case dbcanary.PlacementSplit:
		if len(cores) < 2 {
			return nil, nil, &dbcanary.Error{
				Code: dbcanary.CodeUnavailable,
				Op:   "place server and client on different CPUs",
				Err:  fmt.Errorf("only one core may be used: CPUs %v", slices.Concat(cores...)),
				Hint: "choose the placement same or free",
			}
		}
		half := (len(cores) + 1) / 2
		server, client = slices.Concat(cores[:half]...), slices.Concat(cores[half:]...)
		slices.Sort(server)
		slices.Sort(client)
		return server, client, nil
	case dbcanary.PlacementFree:
		return nil, nil, nil
	}
	names := []string{string(dbcanary.PlacementFree), string(dbcanary.PlacementSplit), string(dbcanary.PlacementSame)}
	return nil, nil, dbcanary.Errorf(dbcanary.CodeUsage, "unknown placement %q%s", placement, dbcanary.DidYouMean(string(placement), names))
}

// onCPU runs f on a thread of its own that is pinned to a CPU and ends with the
// calling goroutine, which must do nothing afterwards.
func onCPU(cpu int, f func() error) error {
	runtime.LockOSThread() // never unlocked: a pinned thread must not serve other goroutines
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin a thread to CPU %d: %w", cpu, err)
	}
	return f()
}
