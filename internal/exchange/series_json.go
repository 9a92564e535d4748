package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// actionPrefix starts the data.js of github-action-benchmark.
const actionPrefix = "window.BENCHMARK_DATA"

// readJSON tells the formats apart by their shape.
func readJSON(name string, content []byte) (SeriesFile, error) {
	body, offset := content, 0
	if i := bytes.Index(content, []byte(actionPrefix)); i >= 0 && bytes.HasPrefix(bytes.TrimSpace(content), []byte(actionPrefix)) {
		equals := bytes.IndexByte(content[i:], '=')
		if equals < 0 {
			return SeriesFile{}, seriesError(name, 1, 0, "%s is given no value", actionPrefix)
		}
		offset = i + equals + 1
		body = bytes.TrimRight(content[offset:], "; \r\n\t")
		if len(bytes.TrimSpace(body)) == 0 {
			return SeriesFile{}, seriesError(name, 1, 0, "%s is given no value", actionPrefix)
		}
	}
	r := jsonReader{name: name, content: content, body: body, offset: int64(offset)}
	if bytes.TrimSpace(body)[0] == '[' {
		var list []struct {
			Metrics json.RawMessage `json:"metrics"`
			Name    json.RawMessage `json:"name"`
			Value   json.RawMessage `json:"value"`
		}
		if err := r.decode(&list); err != nil {
			return SeriesFile{}, err
		}
		switch {
		case len(list) == 0:
			return SeriesFile{}, seriesError(name, 1, 0, "the list is empty")
		case list[0].Metrics != nil:
			return r.nyrkio()
		case list[0].Name != nil && list[0].Value != nil:
			return r.actionOnce()
		}
		return SeriesFile{}, seriesError(name, 1, 0, "the entries have neither metrics, as Nyrkiö's JSON has, nor name and value, as github-action-benchmark's has")
	}
	var object map[string]json.RawMessage
	if err := r.decode(&object); err != nil {
		return SeriesFile{}, err
	}
	if _, ok := object["entries"]; ok {
		return r.actionHistory()
	}
	if len(object) == 0 {
		return SeriesFile{}, seriesError(name, 1, 0, "the object is empty")
	}
	return r.bencher()
}

// jsonReader decodes one file and turns offsets into lines and columns.
type jsonReader struct {
	name    string
	content []byte
	body    []byte
	offset  int64 // of body in content
}

func (r jsonReader) decode(into any) error {
	err := json.Unmarshal(r.body, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line, column := lineAndColumn(r.content, r.offset+max(0, syntax.Offset-1))
		return seriesError(r.name, line, column, "not valid JSON: %v", err)
	case errors.As(err, &mismatch):
		line, column := lineAndColumn(r.content, r.offset+max(0, mismatch.Offset-1))
		return seriesError(r.name, line, column, "%s: %s where %s should stand", fieldName(mismatch.Field), withArticle(mismatch.Value), jsonKind(mismatch.Type.Kind().String()))
	}
	return seriesError(r.name, 0, 0, "%v", err)
}

func fieldName(field string) string {
	if field == "" {
		return "the file"
	}
	return fmt.Sprintf("%q", field)
}

func jsonKind(kind string) string {
	switch {
	case strings.HasPrefix(kind, "float"), strings.HasPrefix(kind, "int"):
		return "a number"
	case kind == "slice":
		return "a list"
	case kind == "map", kind == "struct":
		return "an object"
	}
	return withArticle(kind)
}

func withArticle(noun string) string {
	if noun == "array" || noun == "object" {
		return "an " + noun
	}
	return "a " + noun
}

// collector keeps series in the order in which they first appear.
type collector struct {
	file SeriesFile
	at   map[[3]string]int
}

func (c *collector) add(benchmark, metric, unit string, better Direction, p Point) {
	key := [3]string{benchmark, metric, unit}
	i, ok := c.at[key]
	if !ok {
		if c.at == nil {
			c.at = map[[3]string]int{}
		}
		i = len(c.file.Series)
		c.at[key] = i
		if better == Unknown {
			better = guessDirection(metric, unit)
		}
		c.file.Series = append(c.file.Series, Series{Benchmark: benchmark, Metric: metric, Unit: unit, Better: better})
	}
	c.file.Series[i].Points = append(c.file.Series[i].Points, p)
}

func valueOf(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (r jsonReader) nyrkio() (SeriesFile, error) {
	var entries []struct {
		Timestamp float64 `json:"timestamp"`
		Metrics   []struct {
			Name      string   `json:"name"`
			Unit      string   `json:"unit"`
			Value     *float64 `json:"value"`
			Direction string   `json:"direction"`
		} `json:"metrics"`
		Attributes map[string]any `json:"attributes"`
	}
	if err := r.decode(&entries); err != nil {
		return SeriesFile{}, err
	}
	var c collector
	for i, entry := range entries {
		at, ok := ParseTime(fmt.Sprint(int64(entry.Timestamp)))
		if !ok || entry.Timestamp == 0 {
			return SeriesFile{}, seriesError(r.name, 0, 0, "entry %d has no timestamp", i)
		}
		p := Point{Label: at.Format(time.RFC3339), Time: at}
		p.Label, p.Environment = describeAttributes(entry.Attributes, p.Label)
		for k, m := range entry.Metrics {
			if m.Name == "" {
				return SeriesFile{}, seriesError(r.name, 0, 0, "metric %d of entry %d has no name", k, i)
			}
			better := Unknown
			switch m.Direction {
			case "higher_is_better":
				better = HigherIsBetter
			case "lower_is_better":
				better = LowerIsBetter
			}
			p.Value = valueOf(m.Value)
			c.add(baseName(r.name), m.Name, m.Unit, better, p)
		}
	}
	return c.file, nil
}

// describeAttributes finds label and environment among attributes of any name.
func describeAttributes(attributes map[string]any, label string) (string, map[string]string) {
	for _, name := range labelColumns {
		if text, ok := attributes[name].(string); ok && text != "" {
			label = text
			break
		}
	}
	var environment map[string]string
	for name, value := range attributes {
		if text, ok := value.(string); ok && slices.Contains(environmentColumns, strings.ToLower(name)) {
			if environment == nil {
				environment = map[string]string{}
			}
			environment[name] = text
		}
	}
	return label, environment
}

// actionBench is one benchmark of github-action-benchmark.
type actionBench struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Value *float64 `json:"value"`
}

// actionOnce reads the input of the action: one position, named by the file.
func (r jsonReader) actionOnce() (SeriesFile, error) {
	var benches []actionBench
	if err := r.decode(&benches); err != nil {
		return SeriesFile{}, err
	}
	var c collector
	for _, b := range benches {
		c.add(b.Name, "value", b.Unit, Unknown, Point{Label: baseName(r.name), Value: valueOf(b.Value)})
	}
	return c.file, nil
}

// actionHistory reads the data.js or its JSON.
func (r jsonReader) actionHistory() (SeriesFile, error) {
	var history struct {
		Entries map[string][]struct {
			Commit struct {
				ID string `json:"id"`
			} `json:"commit"`
			Date    float64       `json:"date"`
			Tool    string        `json:"tool"`
			Benches []actionBench `json:"benches"`
		} `json:"entries"`
	}
	if err := r.decode(&history); err != nil {
		return SeriesFile{}, err
	}
	var c collector
	for _, suite := range sortedKeys(history.Entries) {
		for _, entry := range history.Entries[suite] {
			better := Unknown
			switch entry.Tool {
			case "customBiggerIsBetter":
				better = HigherIsBetter
			case "customSmallerIsBetter":
				better = LowerIsBetter
			}
			p := Point{Label: entry.Commit.ID}
			if at, ok := ParseTime(fmt.Sprint(int64(entry.Date))); ok && entry.Date != 0 {
				p.Time = at
			}
			if p.Label == "" {
				p.Label = p.Time.Format(time.RFC3339)
			}
			for _, b := range entry.Benches {
				name := b.Name
				if len(history.Entries) > 1 {
					name = suite + ": " + name
				}
				p.Value = valueOf(b.Value)
				c.add(name, "value", b.Unit, better, p)
			}
		}
	}
	if len(c.file.Series) == 0 {
		return SeriesFile{}, seriesError(r.name, 0, 0, "there are no benchmarks in the entries")
	}
	return c.file, nil
}

// bencher reads Bencher Metric Format: one position, named by the file.
func (r jsonReader) bencher() (SeriesFile, error) {
	var benchmarks map[string]map[string]struct {
		Value *float64 `json:"value"`
	}
	if err := r.decode(&benchmarks); err != nil {
		return SeriesFile{}, err
	}
	var c collector
	for _, benchmark := range sortedKeys(benchmarks) {
		for _, measure := range sortedKeys(benchmarks[benchmark]) {
			value := benchmarks[benchmark][measure].Value
			if value == nil {
				return SeriesFile{}, seriesError(r.name, 0, 0, "%q of benchmark %q has no value: this is not Bencher Metric Format", measure, benchmark)
			}
			c.add(benchmark, measure, "", Unknown, Point{Label: baseName(r.name), Value: *value})
		}
	}
	if len(c.file.Series) == 0 {
		return SeriesFile{}, seriesError(r.name, 0, 0, "no benchmark has a measure")
	}
	return c.file, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
