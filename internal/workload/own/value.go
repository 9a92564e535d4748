package own

import (
	"math"
	"strconv"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/workload/bulk"
)

// kind is the type of a value.
type kind uint8

const (
	unset   kind = iota // a variable that nothing has been assigned to
	null                // NULL
	boolean             // in integer
	integer
	decimal // integer is the value times ten to the scale
	double
	text
	raw // text that goes into the SQL as it is
	date
	timestamp
	list
)

// value is what a variable or a column holds.
type value struct {
	kind    kind
	scale   uint8
	integer int64 // date: days, timestamp: seconds since 1970
	double  float64
	text    []byte // good until the next value of the same generator
	list    []value
}

func integerValue(n int64) value  { return value{kind: integer, integer: n} }
func doubleValue(f float64) value { return value{kind: double, double: f} }

func booleanValue(b bool) value {
	if b {
		return value{kind: boolean, integer: 1}
	}
	return value{kind: boolean}
}

// appendPlain appends a value without quotes, as a parameter has it.
func (v *value) appendPlain(buf []byte) []byte {
	switch v.kind {
	case integer:
		return strconv.AppendInt(buf, v.integer, 10)
	case decimal:
		return appendDecimal(buf, v.integer, int(v.scale))
	case double:
		return strconv.AppendFloat(buf, v.double, 'g', 15, 64)
	case text, raw:
		return append(buf, v.text...)
	case date:
		return time.Unix(v.integer*86400, 0).UTC().AppendFormat(buf, time.DateOnly)
	case timestamp:
		return time.Unix(v.integer, 0).UTC().AppendFormat(buf, time.DateTime)
	case boolean:
		return strconv.AppendBool(buf, v.integer != 0)
	case list:
		for i := range v.list {
			if i > 0 {
				buf = append(buf, ", "...)
			}
			buf = v.list[i].appendPlain(buf)
		}
		return buf
	}
	return append(buf, "NULL"...)
}

func appendDecimal(buf []byte, n int64, scale int) []byte {
	if n < 0 {
		buf, n = append(buf, '-'), -n
	}
	unit := int64(math.Pow10(scale))
	buf = strconv.AppendInt(buf, n/unit, 10)
	if scale == 0 {
		return buf
	}
	buf = append(buf, '.')
	digits := strconv.AppendInt(nil, n%unit+unit, 10) // a 1 before the leading zeros
	return append(buf, digits[1:]...)
}

// quoted tells whether a value stands in quotes in SQL.
func (v *value) quoted() bool { return v.kind == text || v.kind == date || v.kind == timestamp }

// appendSQL appends a value as a literal of SQL.
func (v *value) appendSQL(buf []byte, family dbcanary.Family) []byte {
	if v.kind == list {
		for i := range v.list {
			if i > 0 {
				buf = append(buf, ", "...)
			}
			buf = v.list[i].appendSQL(buf, family)
		}
		return buf
	}
	if !v.quoted() {
		return v.appendPlain(buf)
	}
	buf = append(buf, '\'')
	if v.kind != text {
		return append(v.appendPlain(buf), '\'')
	}
	backslash := family == dbcanary.MySQL || family == dbcanary.MariaDB
	for _, char := range v.text {
		if char == '\'' || char == '\\' && backslash {
			buf = append(buf, char)
		}
		buf = append(buf, char)
	}
	return append(buf, '\'')
}

// appendRow appends a value of a row to be loaded.
func (v *value) appendRow(buf []byte, family dbcanary.Family, format bulk.Format) []byte {
	switch {
	case format == bulk.Tuple:
		return v.appendSQL(buf, family)
	case v.kind == null:
		return append(buf, `\N`...)
	case v.kind != text:
		return v.appendPlain(buf)
	}
	for _, char := range v.text {
		switch char {
		case '\\':
			buf = append(buf, `\\`...)
		case '\t':
			buf = append(buf, `\t`...)
		case '\n':
			buf = append(buf, `\n`...)
		case '\r':
			buf = append(buf, `\r`...)
		default:
			buf = append(buf, char)
		}
	}
	return buf
}
