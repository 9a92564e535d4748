package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/profile"
)

// The profiles of the page: of each benchmark on each target the profiling slices
// of all instances, added up.
type (
	pageProfile struct {
		Benchmark  int          `json:"benchmark"`
		Target     int          `json:"target"`
		Operations int64        `json:"operations"` // of the slices that show waits
		Waits      [][4]int64   `json:"waits"`      // event, count, ns, 1 if estimated from samples; the most time first
		Stacks     []pageStacks `json:"stacks"`
	}
	// pageStacks is a tree from the root up: of each frame its name, its samples and
	// how many frames lie right above it, and then those frames.
	pageStacks struct {
		Sampler    string  `json:"sampler"`
		Operations int64   `json:"operations"` // that the samples are divided by
		Nodes      []int64 `json:"nodes"`
	}
)

// The frames of a page are those that hold some part of their graph, a larger one
// where many graphs would make the page heavy.
const (
	leastFrame = 0.001
	mostFrames = 60_000
)

// pageProfiles adds up the profiles that show something.
func (r *Report) pageProfiles(texts *texts) ([]pageProfile, error) {
	benchmarks, targets := r.indexes()
	pages := []pageProfile{}
	samples := [][]*sampled{} // by page
	for _, p := range r.Profiles {
		benchmark, known := benchmarks[p.Benchmark]
		target, also := targets[p.Target]
		if !known || !also || p.Void != "" || p.Operations <= 0 {
			continue
		}
		at := slices.IndexFunc(pages, func(q pageProfile) bool { return q.Benchmark == benchmark && q.Target == target })
		if at < 0 {
			at = len(pages)
			pages = append(pages, pageProfile{Benchmark: benchmark, Target: target, Waits: [][4]int64{}, Stacks: []pageStacks{}})
			samples = append(samples, nil)
		}
		if len(p.Waits) > 0 {
			pages[at].Operations += p.Operations
			pages[at].addWaits(p.Waits, texts)
		}
		var err error
		if samples[at], err = addStacks(samples[at], p); err != nil {
			return nil, fmt.Errorf("stacks of %s on %s: %w", p.Benchmark, p.Target, err)
		}
	}
	for _, of := range samples {
		for _, one := range of {
			one.tree = profile.TopDown(one.stacks)
		}
	}
	least := leastShare(samples)
	for i := range pages {
		slices.SortStableFunc(pages[i].Waits, func(a, b [4]int64) int { return cmp.Compare(b[2], a[2]) })
		for _, one := range samples[i] {
			nodes := pageNodes(nil, one.tree, texts, one.least(least))
			pages[i].Stacks = append(pages[i].Stacks, pageStacks{one.sampler, one.divisor(), nodes})
		}
	}
	return pages, nil
}

func (p *pageProfile) addWaits(waits []dbcanary.Wait, texts *texts) {
	for _, wait := range waits {
		event := int64(texts.number(clean(wait.Event)))
		at := slices.IndexFunc(p.Waits, func(w [4]int64) bool { return w[0] == event })
		if at < 0 {
			at = len(p.Waits)
			p.Waits = append(p.Waits, [4]int64{event})
		}
		p.Waits[at][1] += wait.Count
		p.Waits[at][2] += wait.TotalNs
		if wait.Sampled {
			p.Waits[at][3] = 1
		}
	}
}

// sampled is what one sampler saw.
type sampled struct {
	sampler    string
	operations int64 // of the slices in which it sampled
	stacks     []profile.Stack
	tree       *profile.Node
}

// divisor is what samples are divided by to compare targets: operations, or all the
// samples where those say nothing of operations.
func (s *sampled) divisor() int64 {
	if isCPUSampler(s.sampler) {
		return s.operations
	}
	return s.tree.Samples
}

// least is the fewest samples of a frame that holds a share of them all.
func (s *sampled) least(share float64) int64 { return int64(share * float64(s.tree.Samples)) }

// addStacks adds stacks to those of their sampler.
func addStacks(all []*sampled, p dbcanary.Profile) ([]*sampled, error) {
	for _, stacks := range p.Stacks {
		at := slices.IndexFunc(all, func(s *sampled) bool { return s.sampler == stacks.Sampler })
		if at < 0 {
			at = len(all)
			all = append(all, &sampled{sampler: stacks.Sampler})
		}
		all[at].operations += p.Operations
		decoded, err := profile.Decode(stacks.Pprof)
		if err != nil {
			return nil, err
		}
		all[at].stacks = append(all[at].stacks, decoded...)
	}
	return all, nil
}

// leastShare is the share of a graph that a frame must hold to be in the page.
func leastShare(samples [][]*sampled) float64 {
	share := leastFrame
	for ; share < 1; share *= 2 {
		count := 0
		for _, of := range samples {
			for _, one := range of {
				count += countNodes(one.tree, one.least(share))
			}
		}
		if count <= mostFrames {
			break
		}
	}
	return share
}

func countNodes(n *profile.Node, least int64) int {
	count := 1
	for _, above := range n.Above {
		if above.Samples >= least {
			count += countNodes(above, least)
		}
	}
	return count
}

// pageNodes lists a node and those above it, as pageStacks has them.
func pageNodes(list []int64, n *profile.Node, texts *texts, least int64) []int64 {
	at := len(list)
	list = append(list, int64(texts.number(clean(n.Frame.Function))), n.Samples, 0)
	for _, above := range n.Above {
		if above.Samples >= least {
			list = pageNodes(list, above, texts, least)
			list[at+2]++
		}
	}
	return list
}
