package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// iostatJSON reads the output of iostat -o JSON.
func iostatJSON() resultFormat {
	return resultFormat{
		name: "iostat JSON",
		recognise: func(head string) bool {
			return iostatJSONHead.MatchString(head) && (strings.Contains(head, `"disk"`) || strings.Contains(head, `"avg-cpu"`))
		},
		read: readIostatJSON,
	}
}

// iostatStatistic is one report.
type iostatStatistic struct {
	CPU map[string]float64 `json:"avg-cpu"`
	// A disk is a name and numbers.
	Disks []map[string]any `json:"disk"`
}

func readIostatJSON(l *lines, results *Results) error {
	decoder := l.json("")
	rec := Recording{Line: 1, Tool: "iostat"}
	sums := &iostatReader{lines: l, results: results, disks: newDisks(), first: 1, sampler: l.recording.newSampler(0, l.recording.sinceBoot)}
	err := readJSONReports(decoder.Decoder, func(key string) error {
		if key == "number-of-cpus" {
			return decoder.Decode(&rec.CPUs)
		}
		var report iostatStatistic
		if err := decoder.Decode(&report); err != nil {
			return err
		}
		return sums.addReport(report)
	})
	switch {
	case cutJSON(err): // iostat writes the end only if it ends by itself
		results.Notes = append(results.Notes, l.failf(1, "the JSON ends within or after report %d, which does not count", sums.sampler.seen+1).Error())
	case err != nil:
		return l.failf(1, "report %d of iostat: %w", sums.sampler.seen+1, err)
	default:
		if err := decoder.end(); err != nil {
			return err
		}
	}
	sums.disks.rates(&rec, sums.sampler.counted, sums.known)
	sums.cpuRates(&rec)
	return results.addRecording(l, rec, sums.sampler)
}

// readJSONReports walks to the numbers of CPUs and into the lists of statistics, and
// gives each entry to take, which decodes it.
func readJSONReports(decoder *json.Decoder, take func(key string) error) error {
	key := ""
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			if token == json.Delim('[') && key == "statistics" {
				for decoder.More() {
					if err := take(key); err != nil {
						return err
					}
				}
			}
			key = ""
		case json.Delim('}'), json.Delim(']'):
			if depth--; depth == 0 {
				return nil
			}
		default:
			text, _ := token.(string)
			if text == "number-of-cpus" {
				if err := take(text); err != nil {
					return err
				}
				text = ""
			}
			key = text
		}
	}
}

func (r *iostatReader) addReport(report iostatStatistic) error {
	counts := r.sampler.next()
	for name, v := range report.CPU {
		if !(v >= 0) {
			return fmt.Errorf("%q is %g and should not be negative", name, v)
		}
		if counts {
			r.cpuSum.add(name, v)
		}
		r.hasCPU = true
	}
	for _, disk := range report.Disks {
		var values [diskColumns]float64
		name, _ := disk["disk_device"].(string)
		for key, value := range disk {
			column, factor := diskColumn(key)
			if column < 0 {
				continue
			}
			v, ok := value.(float64)
			if !ok || !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("%q of disk %q should be a number that is not negative", key, clip(name))
			}
			values[column], r.known[column] = v*factor, true
		}
		if counts && !r.disks.add(name, values) {
			return fmt.Errorf("there are more than %d devices", mostDisks)
		}
	}
	return nil
}
