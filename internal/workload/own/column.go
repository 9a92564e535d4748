package own

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/dbcanary/dbcanary"
)

// columnType is a type of the user's words that every family has.
type columnType struct {
	kind          kind
	name          string // "varchar(40)"
	word          string // "varchar"
	size          int    // of text, most characters; 0 for no limit
	digits, scale int    // of a decimal
	least, most   int64  // of an integer
}

var typePattern = regexp.MustCompile(`^([a-z]+)(?:\(\s*(\d{1,5})\s*(?:,\s*(\d{1,2})\s*)?\))?$`)

func typeWords() []string {
	return []string{"smallint", "int", "bigint", "decimal(10,2)", "double", "char(20)", "varchar(100)", "text", "date", "timestamp"}
}

// parseType reads a type.
func parseType(written string) (columnType, error) {
	t := columnType{name: written}
	match := typePattern.FindStringSubmatch(written)
	fail := func(format string, args ...any) (columnType, error) {
		return t, fmt.Errorf("type %q: %s", written, fmt.Sprintf(format, args...))
	}
	if match == nil {
		return fail("there are %q", typeWords())
	}
	t.word = match[1]
	first, _ := strconv.Atoi(match[2]) // no number is 0
	second, _ := strconv.Atoi(match[3])
	switch t.word {
	case "smallint":
		t.kind, t.least, t.most = integer, math.MinInt16, math.MaxInt16
	case "int":
		t.kind, t.least, t.most = integer, math.MinInt32, math.MaxInt32
	case "bigint":
		t.kind, t.least, t.most = integer, math.MinInt64, math.MaxInt64
	case "decimal":
		t.kind, t.digits, t.scale = decimal, first, second
		if first < 1 || first > 18 || second > first {
			return fail("a decimal has 1 to 18 digits, and no more after the point: decimal(10,2)")
		}
		t.most = int64(math.Pow10(first)) - 1
		t.least = -t.most
	case "double":
		t.kind = double
	case "char", "varchar":
		t.kind, t.size = text, first
		if most := map[string]int{"char": 255, "varchar": 10000}[t.word]; first < 1 || first > most {
			return fail("its length is from 1 to %d: %s(20)", most, t.word)
		}
	case "text":
		t.kind = text
	case "date":
		t.kind = date
	case "timestamp":
		t.kind = timestamp
	default:
		return fail("there are %q", typeWords())
	}
	if match[2] != "" && !slices.Contains([]string{"decimal", "char", "varchar"}, t.word) || match[3] != "" && t.word != "decimal" {
		return fail("%s takes no such numbers", t.word)
	}
	return t, nil
}

// sql is the type as a family spells it.
func (t columnType) sql(family dbcanary.Family) string {
	mysql := family == dbcanary.MySQL || family == dbcanary.MariaDB
	switch {
	case t.word == "double" && family == dbcanary.Postgres:
		return "double precision"
	case t.word == "timestamp" && mysql:
		return "datetime"
	case t.word == "timestamp" && family == dbcanary.Postgres:
		return "timestamp(0)"
	case t.word == "int":
		return "integer"
	}
	return t.name
}

// parse reads a value of the type in the units in which it is drawn: the number, a
// decimal without its point, days, seconds.
func (t columnType) parse(written string) (int64, error) {
	switch t.kind {
	case date:
		at, err := time.Parse(time.DateOnly, written)
		if err != nil {
			return 0, fmt.Errorf("%q is no date like 2024-12-31", written)
		}
		return at.Unix() / 86400, nil
	case timestamp:
		for _, layout := range []string{time.DateTime, time.DateOnly} {
			if at, err := time.Parse(layout, written); err == nil {
				return at.Unix(), nil
			}
		}
		return 0, fmt.Errorf("%q is no time like \"2024-12-31 23:59:59\"", written)
	case decimal:
		return t.parseDecimal(written)
	case integer:
		n, err := strconv.ParseInt(written, 10, 64)
		if err != nil || n < t.least || n > t.most {
			return 0, fmt.Errorf("%q is no whole number of type %s", written, t.name)
		}
		return n, nil
	}
	n, err := strconv.ParseInt(written, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", written)
	}
	return n, nil
}

var decimalPattern = regexp.MustCompile(`^(-?)(\d+)(?:\.(\d+))?$`)

func (t columnType) parseDecimal(written string) (int64, error) {
	match := decimalPattern.FindStringSubmatch(written)
	if match == nil || len(match[3]) > t.scale {
		return 0, fmt.Errorf("%q is no number with at most %d digits after the point", written, t.scale)
	}
	digits := match[2] + match[3]
	for range t.scale - len(match[3]) {
		digits += "0"
	}
	n, err := strconv.ParseInt(match[1]+digits, 10, 64)
	if err != nil || n < t.least || n > t.most {
		return 0, fmt.Errorf("%q does not fit into %s", written, t.name)
	}
	return n, nil
}
