package load

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// latencies draws samples over the whole range, short ones as likely as long ones.
func latencies(t *rapid.T, label string) []int64 {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
		bits := rapid.IntRange(0, 46).Draw(t, "bits")
		return min(rapid.Int64Range(0, 1<<bits).Draw(t, "latency"), maxLatencyNs)
	}), 1, 300).Draw(t, label)
}

func histogramOf(samples []int64) *Histogram {
	h := NewHistogram()
	for _, sample := range samples {
		h.Record(sample)
	}
	return h
}

// near says whether got is want within the three digits of a histogram.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= float64(want)/1000
}

func TestHistogram_SortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := latencies(t, "samples")
		h := histogramOf(samples)
		slices.Sort(samples)
		n := len(samples)
		percent := rapid.Float64Range(0.1, 100).Draw(t, "percent")
		rank := min(n, max(1, int(percent/100*float64(n)+0.5)))
		if got, want := h.Percentile(percent), samples[rank-1]; !near(got, want) {
			t.Fatalf("percentile %g is %d, want %d of %v", percent, got, want, samples)
		}
		sum := 0.0
		for _, sample := range samples {
			sum += float64(sample)
		}
		s := h.Summary()
		if !near(s.Min, samples[0]) || !near(s.Max, samples[n-1]) || h.Count() != int64(n) {
			t.Fatalf("summary %+v of %d, want min %d, max %d of %d", s, h.Count(), samples[0], samples[n-1], n)
		}
		if mean := sum / float64(n); math.Abs(s.Mean-mean) > mean/1000+0.5 {
			t.Fatalf("mean %g, want %g", s.Mean, mean)
		}
		if s.P50 != h.Percentile(50) || s.P95 != h.Percentile(95) || s.P99 != h.Percentile(99) {
			t.Fatalf("summary %+v differs from the percentiles", s)
		}
	})
}

func TestHistogram_MergeIsConcatenation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := latencies(t, "a"), latencies(t, "b")
		merged := histogramOf(a)
		merged.Merge(histogramOf(b))
		if !merged.hdr.Equals(histogramOf(slices.Concat(a, b)).hdr) {
			t.Fatalf("merging %v and %v differs from recording both", a, b)
		}
	})
}

func TestHistogram_EncodeDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := histogramOf(latencies(t, "samples"))
		encoded, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := DecodeHistogram(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if !decoded.hdr.Equals(h.hdr) {
			t.Fatal("decoding gave another histogram")
		}
	})
}

func TestHistogram_OutOfRange(t *testing.T) {
	h := histogramOf([]int64{-5, math.MaxInt64})
	if h.Count() != 2 || h.Percentile(50) != 0 || !near(h.Percentile(100), maxLatencyNs) {
		t.Errorf("%d recorded, %d to %d", h.Count(), h.Percentile(50), h.Percentile(100))
	}
}

func TestHistogram_Empty(t *testing.T) {
	h := NewHistogram()
	if diff := cmp.Diff(h.Summary(), (&Histogram{hdr: h.hdr}).Summary()); diff != "" || h.Percentile(99) != 0 || h.Summary().Max != 0 {
		t.Errorf("an empty histogram has values: %+v", h.Summary())
	}
	h.Each(func(from, to, count int64) { t.Errorf("bucket %d-%d holds %d", from, to, count) })
}

func FuzzDecodeHistogram(f *testing.F) {
	encoded, err := histogramOf([]int64{1, 1000, 1e9}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("HISTFAAAABV42pNpmSzMwMDAxAABzFCaEUoz2X+AMIABAA=="))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		h, err := DecodeHistogram(encoded)
		if err != nil {
			return
		}
		if _, err := h.Encode(); err != nil {
			t.Errorf("what was decoded does not encode: %v", err)
		}
	})
}
