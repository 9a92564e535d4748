package own

import (
	"fmt"
	"math"
	"math/bits"
)

// truth is a value where a condition is needed: NULL is false, and a number is true
// unless it is 0.
func (v value) truth() (bool, error) {
	switch v.kind {
	case boolean, integer:
		return v.integer != 0, nil
	case double:
		return v.double != 0, nil
	case null:
		return false, nil
	}
	return false, fmt.Errorf("a text is no condition")
}

// number is a value where a double is needed.
func (v value) number() (float64, error) {
	switch v.kind {
	case integer:
		return float64(v.integer), nil
	case double:
		return v.double, nil
	}
	return 0, fmt.Errorf("%q is no number", v.appendPlain(nil))
}

// whole is a value where an integer is needed; a double is rounded.
func (v value) whole() (int64, error) {
	switch v.kind {
	case integer:
		return v.integer, nil
	case double:
		rounded := math.RoundToEven(v.double)
		if !(rounded >= math.MinInt64 && rounded < math.MaxInt64) {
			return 0, fmt.Errorf("%g is too large for an integer", v.double)
		}
		return int64(rounded), nil
	}
	return 0, fmt.Errorf("%q is no integer", v.appendPlain(nil))
}

func not(e expression) expression {
	return expression{kind: boolean, eval: func(s *session) (value, error) {
		v, err := e.eval(s)
		if err != nil || v.kind == null {
			return v, err
		}
		holds, err := v.truth()
		return booleanValue(!holds), err
	}}
}

// operate applies a binary operator.
func operate(operator string, left, right expression) expression {
	switch operator {
	case "AND", "OR":
		return logical(operator == "OR", left, right)
	}
	compute := compare
	kind := boolean
	switch operator {
	case "|", "#", "&", "<<", ">>":
		compute, kind = bitwise, integer
	case "+", "-", "*", "/", "%":
		compute, kind = arithmetic, arithmeticKind(left.kind, right.kind)
	}
	return expression{kind: kind, eval: func(s *session) (value, error) {
		a, err := left.eval(s)
		if err != nil {
			return a, err
		}
		b, err := right.eval(s)
		if err != nil || a.kind == null || b.kind == null {
			return value{kind: null}, err
		}
		return compute(operator, a, b)
	}}
}

func arithmeticKind(a, b kind) kind {
	switch {
	case a == integer && b == integer:
		return integer
	case (a == integer || a == double) && (b == integer || b == double):
		return double
	}
	return unset
}

// logical is AND and OR over true, false and NULL. The right side is not looked at
// where the left one decides.
func logical(or bool, left, right expression) expression {
	return expression{kind: boolean, eval: func(s *session) (value, error) {
		a, err := left.eval(s)
		if err != nil {
			return a, err
		}
		holds, err := a.truth()
		if err != nil || a.kind != null && holds == or {
			return booleanValue(or), err
		}
		b, err := right.eval(s)
		if err != nil {
			return b, err
		}
		if holds, err = b.truth(); err != nil || b.kind != null && holds == or {
			return booleanValue(or), err
		}
		if a.kind == null || b.kind == null {
			return value{kind: null}, nil
		}
		return booleanValue(!or), nil
	}}
}

func compare(operator string, a, b value) (value, error) {
	var order int
	switch {
	case a.kind == boolean && b.kind == boolean, a.kind == integer && b.kind == integer:
		order = sign(a.integer > b.integer, a.integer < b.integer)
	default:
		x, err := a.number()
		if err != nil {
			return a, err
		}
		y, err := b.number()
		if err != nil {
			return b, err
		}
		order = sign(x > y, x < y)
	}
	switch operator {
	case "<":
		return booleanValue(order < 0), nil
	case ">":
		return booleanValue(order > 0), nil
	case "<=":
		return booleanValue(order <= 0), nil
	case ">=":
		return booleanValue(order >= 0), nil
	case "=":
		return booleanValue(order == 0), nil
	}
	return booleanValue(order != 0), nil
}

func sign(more, less bool) int {
	switch {
	case more:
		return 1
	case less:
		return -1
	}
	return 0
}

func bitwise(operator string, a, b value) (value, error) {
	x, err := a.whole()
	if err != nil {
		return a, err
	}
	y, err := b.whole()
	if err != nil {
		return b, err
	}
	switch operator {
	case "|":
		return integerValue(x | y), nil
	case "#":
		return integerValue(x ^ y), nil
	case "&":
		return integerValue(x & y), nil
	case "<<":
		return integerValue(x << (uint64(y) & 63)), nil
	}
	return integerValue(x >> (uint64(y) & 63)), nil
}

func arithmetic(operator string, a, b value) (value, error) {
	if a.kind == integer && b.kind == integer || operator == "%" {
		x, err := a.whole()
		if err != nil {
			return a, err
		}
		y, err := b.whole()
		if err != nil {
			return b, err
		}
		return integers(operator, x, y)
	}
	x, err := a.number()
	if err != nil {
		return a, err
	}
	y, err := b.number()
	if err != nil {
		return b, err
	}
	switch operator {
	case "+":
		return doubleValue(x + y), nil
	case "-":
		return doubleValue(x - y), nil
	case "*":
		return doubleValue(x * y), nil
	}
	if y == 0 {
		return value{}, fmt.Errorf("division by zero")
	}
	return doubleValue(x / y), nil
}

// integers computes with 64 bits and tells of results that they can't hold.
func integers(operator string, x, y int64) (value, error) {
	overflow := false
	var result int64
	switch operator {
	case "+":
		result = x + y
		overflow = (x >= 0) == (y >= 0) && (result >= 0) != (x >= 0)
	case "-":
		result = x - y
		overflow = (x >= 0) != (y >= 0) && (result >= 0) != (x >= 0)
	case "*":
		high, low := bits.Mul64(magnitude(x), magnitude(y))
		negative := (x < 0) != (y < 0)
		overflow = high > 0 || low > math.MaxInt64 && !(negative && low == 1<<63)
		result = x * y
	default:
		if y == 0 {
			return value{}, fmt.Errorf("division by zero")
		}
		if y == -1 { // the one quotient that overflows is of the least integer
			overflow = operator == "/" && x == math.MinInt64
			return integerUnless(overflow, map[bool]int64{true: -x, false: 0}[operator == "/"])
		}
		if operator == "/" {
			return integerValue(x / y), nil
		}
		return integerValue(x % y), nil
	}
	return integerUnless(overflow, result)
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func integerUnless(overflow bool, result int64) (value, error) {
	if overflow {
		return value{}, fmt.Errorf("an integer overflows")
	}
	return integerValue(result), nil
}
