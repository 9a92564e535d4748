package probe

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

func TestPlanCPUs(t *testing.T) {
	smt := [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}
	for _, row := range []struct {
		placement      dbcanary.Placement
		threads        int
		cores          [][]int
		server, client []int
	}{
		{dbcanary.PlacementFree, 1, smt, nil, nil},
		{dbcanary.PlacementSame, 1, smt, []int{0}, []int{0}},
		{dbcanary.PlacementSame, 0, smt, []int{0}, []int{0}},
		{dbcanary.PlacementSame, 3, smt, []int{0, 1, 2}, []int{0, 1, 2}},
		{dbcanary.PlacementSame, 64, smt, []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{dbcanary.PlacementSplit, 1, smt, []int{0, 1, 4, 5}, []int{2, 3, 6, 7}},
		{dbcanary.PlacementSplit, 64, [][]int{{0}, {1}}, []int{0}, []int{1}},
		{dbcanary.PlacementSplit, 4, [][]int{{8}, {9}, {11}}, []int{8, 9}, []int{11}}, // the server gets the larger half
	} {
		server, client, err := planCPUs(row.placement, row.threads, row.cores)
		if err != nil || !slices.Equal(server, row.server) || !slices.Equal(client, row.client) {
			t.Errorf("%+v gives %v, %v, %v", row, server, client, err)
		}
	}
	for placement, code := range map[dbcanary.Placement]dbcanary.Code{
		dbcanary.PlacementSplit: dbcanary.CodeUnavailable, // SMT siblings share a core
		"splti":                 dbcanary.CodeUsage,
	} {
		if _, _, err := planCPUs(placement, 4, [][]int{{0, 1}}); dbcanary.ErrorCode(err) != code {
			t.Errorf("%s: error %v, want %s", placement, err, code)
		}
	}
}

func TestCores(t *testing.T) {
	files := map[string]string{}
	add := func(cpu, pkg int, siblings string) {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", cpu)
		files[dir+"physical_package_id"] = fmt.Sprintf("%d\n", pkg)
		files[dir+"thread_siblings_list"] = siblings + "\n"
	}
	// Two packages whose CPUs alternate, with SMT.
	for cpu := range 4 {
		add(cpu, cpu%2, fmt.Sprintf("%d,%d", cpu, cpu+4))
		add(cpu+4, cpu%2, fmt.Sprintf("%d,%d", cpu, cpu+4))
	}
	s := fixture(t, files)
	for _, row := range []struct {
		allowed []int
		want    [][]int
	}{
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, [][]int{{0, 4}, {2, 6}, {1, 5}, {3, 7}}},
		{[]int{1, 4, 6}, [][]int{{4}, {6}, {1}}},
		{[]int{9, 10}, [][]int{{9}, {10}}}, // no topology
	} {
		if diff := cmp.Diff(row.want, s.cores(row.allowed)); diff != "" {
			t.Errorf("%v: %s", row.allowed, diff)
		}
	}
}

func TestCPUPlan_ThisHost(t *testing.T) {
	server, client, err := CPUPlan(dbcanary.PlacementSame, 1)
	if err != nil || len(server) != 1 || !slices.Equal(server, client) {
		t.Errorf("same gives %v, %v, %v", server, client, err)
	}
	server, client, err = CPUPlan(dbcanary.PlacementSplit, 1)
	if dbcanary.ErrorCode(err) == dbcanary.CodeUnavailable {
		return // a single core
	}
	if err != nil || len(server) == 0 || len(client) == 0 {
		t.Errorf("split gives %v, %v, %v", server, client, err)
	}
	for _, cpu := range client {
		if slices.Contains(server, cpu) {
			t.Errorf("split gives CPU %d to both", cpu)
		}
	}
}
