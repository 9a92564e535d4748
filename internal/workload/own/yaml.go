package own

import (
	"encoding"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/config"
)

// document is an own workload in YAML: docs/format/workload.md.
type document struct {
	Name       string                    `yaml:"name"`
	Doc        string                    `yaml:"doc"`
	Tables     config.Map[tableSpec]     `yaml:"tables"`
	Benchmarks config.Map[benchmarkSpec] `yaml:"benchmarks"`
}

type tableSpec struct {
	Rows       int64                 `yaml:"rows"`
	Columns    config.Map[valueSpec] `yaml:"columns"`
	PrimaryKey []string              `yaml:"primary-key"`
	Indexes    config.Map[indexSpec] `yaml:"indexes"`
}

type indexSpec struct {
	Columns []string `yaml:"columns"`
	Unique  bool     `yaml:"unique"`
}

// valueSpec is a column or a parameter: its type and how its values are made.
type valueSpec struct {
	Type   string  `yaml:"type"`
	Nulls  float64 `yaml:"nulls"`
	Auto   bool    `yaml:"auto"`
	Format string  `yaml:"format"`
	List   int     `yaml:"list"`

	Uniform   *rangeSpec     `yaml:"uniform"`
	Gaussian  *rangeSpec     `yaml:"gaussian"`
	Zipf      *zipfSpec      `yaml:"zipf"`
	Pareto    *paretoSpec    `yaml:"pareto"`
	Sequence  *sequenceSpec  `yaml:"sequence"`
	Clustered *clusteredSpec `yaml:"clustered"`
	Text      *textSpec      `yaml:"text"`
	File      *fileSpec      `yaml:"file"`
	Value     *string        `yaml:"value"`
}

type rangeSpec struct {
	Min string `yaml:"min"`
	Max string `yaml:"max"`
}

type zipfSpec struct {
	Min   string   `yaml:"min"`
	Max   string   `yaml:"max"`
	Theta *float64 `yaml:"theta"`
}

type paretoSpec struct {
	Min string   `yaml:"min"`
	Max string   `yaml:"max"`
	H   *float64 `yaml:"h"`
}

type sequenceSpec struct {
	Start string `yaml:"start"`
	Step  *int64 `yaml:"step"`
}

type clusteredSpec struct {
	Min    string `yaml:"min"`
	Max    string `yaml:"max"`
	Spread int64  `yaml:"spread"`
}

type textSpec struct {
	Length   extent `yaml:"length"`
	Distinct int64  `yaml:"distinct"`
}

type fileSpec struct {
	Path  string   `yaml:"path"`
	Theta *float64 `yaml:"theta"`
}

type benchmarkSpec struct {
	Doc          string              `yaml:"doc"`
	Group        string              `yaml:"group"`
	Threads      int                 `yaml:"threads"`
	Not          map[string]string   `yaml:"not"`
	Ignore       map[string][]string `yaml:"ignore"`
	Transactions []transactionSpec   `yaml:"transactions"`
}

type transactionSpec struct {
	Name       string                `yaml:"name"`
	Weight     *int                  `yaml:"weight"`
	Begin      bool                  `yaml:"begin"`
	Params     config.Map[valueSpec] `yaml:"params"`
	Statements []statementSpec       `yaml:"statements"`
}

type statementSpec struct {
	SQL     string                `yaml:"sql"`
	On      map[string]string     `yaml:"on"`
	Params  config.Map[valueSpec] `yaml:"params"`
	Rows    extent                `yaml:"rows"`
	Changed extent                `yaml:"changed"`
	Times   *int                  `yaml:"times"`
	Text    bool                  `yaml:"text"`
}

// UnmarshalText lets a statement that needs nothing else stand as its SQL.
func (s *statementSpec) UnmarshalText(text []byte) error {
	s.SQL = string(text)
	return nil
}

// extent is a number or a range of them: "1", "0..10".
type extent struct {
	given       bool
	least, most int64
}

var (
	_ encoding.TextUnmarshaler = (*extent)(nil)
	_ encoding.TextUnmarshaler = (*statementSpec)(nil)
)

var extentPattern = regexp.MustCompile(`^(\d{1,18})(?:\.\.(\d{1,18}))?$`)

// UnmarshalText reads an extent.
func (e *extent) UnmarshalText(text []byte) error {
	match := extentPattern.FindStringSubmatch(strings.TrimSpace(string(text)))
	if match == nil {
		return fmt.Errorf("%q is no number of at least 0 and no range such as 0..10", text)
	}
	e.given = true
	e.least, _ = strconv.ParseInt(match[1], 10, 64)
	e.most = e.least
	if match[2] != "" {
		e.most, _ = strconv.ParseInt(match[2], 10, 64)
	}
	if e.most < e.least {
		return fmt.Errorf("%q: the range ends before it begins", text)
	}
	return nil
}
