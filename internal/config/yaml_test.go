package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/dbcanary/dbcanary"
)

// word is a value that checks itself, and may stand for a whole pair.
type word string

func (w *word) UnmarshalText(text []byte) error {
	if strings.ToUpper(string(text)) != string(text) {
		return fmt.Errorf("%q is not in capitals", text)
	}
	*w = word(text)
	return nil
}

type pair struct {
	Left  string `yaml:"left"`
	Right int    `yaml:"right"`
}

func (p *pair) UnmarshalText(text []byte) error {
	p.Left = string(text)
	return nil
}

type sample struct {
	Text     string           `yaml:"text"`
	Flag     bool             `yaml:"flag"`
	Count    int              `yaml:"count"`
	Small    int8             `yaml:"small"`
	Seed     uint64           `yaml:"seed"`
	Ratio    float64          `yaml:"ratio"`
	Time     time.Duration    `yaml:"time"`
	Word     word             `yaml:"word"`
	List     []string         `yaml:"list"`
	Counts   []int            `yaml:"counts"`
	Pairs    []pair           `yaml:"pairs"`
	Optional *pair            `yaml:"optional"`
	Named    map[string]int   `yaml:"named"`
	Ordered  Map[[]string]    `yaml:"ordered"`
	Nested   map[string]*pair `yaml:"nested"`
	Hidden   string
}

func TestReadYAML(t *testing.T) {
	datadriven.RunTest(t, "testdata/yaml", func(t *testing.T, d *datadriven.TestData) string {
		var into sample
		file := ReadYAML("plan.yaml", []byte(d.Input), &into)
		for _, path := range []string{"text", "pairs[1].left", "ordered.b[0]"} {
			if into.Text == "placed" {
				file.Problem(path, "placed here: %s", path)
			}
		}
		if err := file.Err(); err != nil {
			return err.Error() + "\n"
		}
		text, err := json.MarshalIndent(into, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	})
}

func TestKeepsWhatIsNotWritten(t *testing.T) {
	into := sample{Text: "default", Count: 7, List: []string{"kept"}}
	file := ReadYAML("p", []byte("count: 8\n"), &into)
	if err := file.Err(); err != nil {
		t.Fatal(err)
	}
	want := sample{Text: "default", Count: 8, List: []string{"kept"}}
	if diff := cmp.Diff(want, into); diff != "" {
		t.Error(diff)
	}
	if !file.Has("count") || file.Has("text") {
		t.Error("Has tells of what is not written, or not of what is")
	}
	if got := file.Where("text"); got != "p:1:1" {
		t.Errorf("a value that is not written lies at %s", got)
	}
}

func TestUsageCode(t *testing.T) {
	err := ReadYAML("p", []byte("["), &sample{}).Err()
	if dbcanary.ErrorCode(err) != dbcanary.CodeUsage {
		t.Errorf("code %s of %v", dbcanary.ErrorCode(err), err)
	}
}

func TestManyProblems(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "key%d: 1\n", i)
	}
	err := ReadYAML("p", []byte(text.String()), &sample{}).Err()
	if lines := strings.Count(err.Error(), "\n"); lines != mostProblems+1 {
		t.Errorf("%d lines: %v", lines, err)
	}
	if !strings.HasSuffix(err.Error(), "and 70 more") {
		t.Errorf("the end of the problems is not told: %v", err)
	}
}

// TestBomb holds that aliases of aliases cost no more than the bound.
func TestBomb(t *testing.T) {
	var deep struct {
		A [][]string           `yaml:"a"`
		B [][][]string         `yaml:"b"`
		C [][][][]string       `yaml:"c"`
		D [][][][][]string     `yaml:"d"`
		E [][][][][][]string   `yaml:"e"`
		F [][][][][][][]string `yaml:"f"`
	}
	text := "a: &a [[x,x,x,x,x,x,x,x,x,x]]\n"
	for _, key := range []string{"b", "c", "d", "e", "f"} {
		before := string(key[0] - 1)
		text += key + ": &" + key + " [" + strings.Repeat("*"+before+", ", 19) + "*" + before + "]\n"
	}
	err := ReadYAML("p", []byte(text), &deep).Err()
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
}

func FuzzReadYAML(f *testing.F) {
	for _, text := range []string{
		"text: a\ncount: 1\nlist: [a, b]\n", "pairs: [x, {left: a, right: 2}]\n", "ordered: {b: [x], a: y}\n",
		"&a [*a]", "text: &x !!str y\nword: *x\n", "<<: {text: a}\n", "---\ntext: a\n---\ntext: b\n", "\ufefftext: a", "time: 10m\nratio: .5",
		"? [a]\n: b\n", "text: |\n  a\n", "# nothing\n", "text: ~\n", "\x00", "named: {a: 1, a: 2}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var into sample
		file := ReadYAML("p", text, &into)
		file.Problem("pairs[3].left", "a problem of its owner")
		if err := file.Err(); err == nil || !strings.Contains(err.Error(), "of its owner") && file.more == 0 {
			t.Errorf("a problem is lost: %v", err)
		}
	})
}
