package load

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dbcanary/dbcanary"
)

// maxLatencyNs is the longest latency that a histogram can hold, one day.
const maxLatencyNs = 24 * 60 * 60 * 1e9

// Histogram is a distribution of latencies in nanoseconds with three significant
// digits (HdrHistogram by Gil Tene): every value that it gives is within 0.1 % of
// one that was recorded. It is not safe for concurrent use.
type Histogram struct {
	hdr *hdrhistogram.Histogram
}

// NewHistogram makes an empty histogram; it takes about 300 kB.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, maxLatencyNs, 3)}
}

// Record adds a latency. One below 0 counts as 0 and one above a day as a day,
// so that no event is ever lost.
func (h *Histogram) Record(latencyNs int64) {
	// The range was made sure of, and that is the only error.
	_ = h.hdr.RecordValue(min(max(latencyNs, 0), maxLatencyNs))
}

// Merge adds all that other holds, as if it had been recorded here.
func (h *Histogram) Merge(other *Histogram) {
	h.hdr.Merge(other.hdr)
}

// Count is the number of recorded latencies.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Percentile gives the latency whose rank is nearest to percent (0 to 100) of
// the count; 0 if there are none.
func (h *Histogram) Percentile(percent float64) int64 {
	return h.hdr.ValueAtPercentile(percent)
}

// Each calls f for every bucket that is not empty, in ascending order.
func (h *Histogram) Each(f func(fromNs, toNs, count int64)) {
	for _, bar := range h.hdr.Distribution() {
		if bar.Count > 0 {
			f(bar.From, bar.To, bar.Count)
		}
	}
}

// Summary gives the usual figures, all zero for an empty histogram.
func (h *Histogram) Summary() dbcanary.Latency {
	if h.Count() == 0 {
		return dbcanary.Latency{}
	}
	percentiles := h.hdr.ValueAtPercentilesSlice([]float64{50, 95, 99})
	return dbcanary.Latency{
		Min:  h.hdr.Min(),
		Mean: h.hdr.Mean(),
		P50:  percentiles[0],
		P95:  percentiles[1],
		P99:  percentiles[2],
		Max:  h.hdr.Max(),
	}
}

// Encode gives the histogram in HdrHistogram's V2 compressed format, in base64
// as its logs hold it and its other implementations read it.
func (h *Histogram) Encode() ([]byte, error) {
	encoded, err := h.hdr.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode latency histogram: %w", err)
	}
	return encoded, nil
}

// DecodeHistogram reads what Encode gave, or another program's histogram in the
// same format, whatever its range and precision.
func DecodeHistogram(encoded []byte) (*Histogram, error) {
	decoded, err := hdrhistogram.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("decode latency histogram: %w", err)
	}
	histogram := NewHistogram()
	histogram.hdr.Merge(decoded)
	return histogram, nil
}
