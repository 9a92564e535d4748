package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/dbcanary/dbcanary"
)

// The profiles of the page: of each benchmark on each target the profiling slices
// of all instances, added up.
type (
	pageProfile struct {
		Benchmark  int          `json:"benchmark"`
		Target     int          `json:"target"`
		Operations int64        `json:"operations"`
		Waits      [][4]int64   `json:"waits"` // event, count, ns, 1 if estimated from samples; the most time first
		Stacks     []pageStacks `json:"stacks"`
	}
	// pageStacks is a tree from the root up: of each frame its name, its samples and
	// how many frames lie right above it, and then those frames.
	pageStacks struct {
		Sampler string  `json:"sampler"`
		Nodes   []int64 `json:"nodes"`
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
	graphs := [][]*graph{} // by page
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
			graphs = append(graphs, nil)
		}
		pages[at].Operations += p.Operations
		pages[at].addWaits(p.Waits, texts)
		var err error
		if graphs[at], err = addStacks(graphs[at], p.Stacks); err != nil {
			return nil, fmt.Errorf("stacks of %s on %s: %w", p.Benchmark, p.Target, err)
		}
	}
	least := leastShare(graphs)
	for i := range pages {
		slices.SortStableFunc(pages[i].Waits, func(a, b [4]int64) int { return cmp.Compare(b[2], a[2]) })
		for _, g := range graphs[i] {
			nodes := g.root.nodes(nil, texts, int64(least*float64(g.root.samples)))
			pages[i].Stacks = append(pages[i].Stacks, pageStacks{g.sampler, nodes})
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

// graph is a flame graph.
type graph struct {
	sampler string
	root    *frame
}

type frame struct {
	name    string
	samples int64 // those of the frames above included
	above   map[string]*frame
}

func newFrame(name string) *frame { return &frame{name: name, above: map[string]*frame{}} }

// addStacks adds sampled stacks to the graph of their sampler.
func addStacks(graphs []*graph, list []dbcanary.Stacks) ([]*graph, error) {
	for _, stacks := range list {
		at := slices.IndexFunc(graphs, func(g *graph) bool { return g.sampler == stacks.Sampler })
		if at < 0 {
			at = len(graphs)
			graphs = append(graphs, &graph{stacks.Sampler, newFrame("all")})
		}
		samples, err := profile.ParseData(stacks.Pprof)
		if err != nil {
			return nil, err
		}
		for _, sample := range samples.Sample {
			if len(sample.Value) > 0 {
				graphs[at].root.add(sample)
			}
		}
	}
	return graphs, nil
}

// add puts a stack on the frame, of which pprof names the innermost function first.
func (f *frame) add(sample *profile.Sample) {
	count := sample.Value[0]
	f.samples += count
	for _, location := range slices.Backward(sample.Location) {
		names := []string{fmt.Sprintf("0x%x", location.Address)}
		if len(location.Line) > 0 {
			names = names[:0]
		}
		for _, line := range slices.Backward(location.Line) { // inlined functions first
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
		for _, name := range names {
			next := f.above[name]
			if next == nil {
				next = newFrame(name)
				f.above[name] = next
			}
			next.samples += count
			f = next
		}
	}
}

// leastShare is the share of a graph that a frame must hold to be in the page.
func leastShare(graphs [][]*graph) float64 {
	least := leastFrame
	for ; least < 1; least *= 2 {
		count := 0
		for _, of := range graphs {
			for _, g := range of {
				count += g.root.count(int64(least * float64(g.root.samples)))
			}
		}
		if count <= mostFrames {
			break
		}
	}
	return least
}

func (f *frame) count(least int64) int {
	count := 1
	for _, above := range f.above {
		if above.samples >= least {
			count += above.count(least)
		}
	}
	return count
}

// nodes lists the frame and those above it by name, as pageStacks has them.
func (f *frame) nodes(list []int64, texts *texts, least int64) []int64 {
	at := len(list)
	list = append(list, int64(texts.number(clean(f.name))), f.samples, 0)
	for _, name := range slices.Sorted(maps.Keys(f.above)) {
		if above := f.above[name]; above.samples >= least {
			list = above.nodes(list, texts, least)
			list[at+2]++
		}
	}
	return list
}
