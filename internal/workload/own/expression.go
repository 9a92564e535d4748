package own

import (
	"fmt"
	"strconv"
	"strings"
)

// expression is what \set and \if evaluate, in pgbench's language (its manual,
// "pgbench Built-In Operators" and "Functions").
type expression struct {
	eval func(s *session) (value, error)
	kind kind // of every value, where it is certain; unset where not
}

// parser reads an expression. Errors have the offset of the place they are about.
type parser struct {
	program *program
	text    string
	at      int
	uses    func(name string, offset int) // is told of each variable
}

type syntaxError struct {
	offset int
	text   string
}

func (e *syntaxError) Error() string { return e.text }

func (p *parser) fail(offset int, format string, args ...any) error {
	return &syntaxError{offset, fmt.Sprintf(format, args...)}
}

// parseExpression reads the whole of text.
func (p *parser) parse() (expression, error) {
	e, err := p.binary(0)
	if err != nil {
		return e, err
	}
	if p.blanks(); p.at < len(p.text) {
		return e, p.fail(p.at, "%q is not expected here", p.peek())
	}
	return e, nil
}

func (p *parser) blanks() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek gives the next token without taking it; "" at the end.
func (p *parser) peek() string {
	p.blanks()
	rest := p.text[p.at:]
	if rest == "" {
		return ""
	}
	if isNameByte(rest[0], true) {
		return rest[:nameEnd(rest, 0)]
	}
	if rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.' {
		return rest[:numberEnd(rest)]
	}
	for _, long := range []string{"<>", "!=", "<=", ">=", "<<", ">>"} {
		if strings.HasPrefix(rest, long) {
			return long
		}
	}
	return rest[:1]
}

func numberEnd(text string) int {
	end := 0
	for end < len(text) {
		c := text[end]
		exponent := (c == '+' || c == '-') && end > 0 && (text[end-1] == 'e' || text[end-1] == 'E')
		if (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && !exponent {
			break
		}
		end++
	}
	return end
}

// take takes the next token if it is one of those, in any case.
func (p *parser) take(tokens ...string) (string, bool) {
	next := p.peek()
	for _, token := range tokens {
		if strings.EqualFold(next, token) {
			p.at += len(next)
			return token, true
		}
	}
	return "", false
}

// levels are the binary operators, those that bind the least first.
var levels = [][]string{{"OR"}, {"AND"}, nil, nil, {"<", ">", "=", "<=", ">=", "<>", "!="}, {"|", "#", "&", "<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

// The levels of operators that are not binary.
const (
	levelNot = 2
	levelIs  = 3
)

func (p *parser) binary(level int) (expression, error) {
	switch {
	case level == len(levels):
		return p.unary()
	case level == levelNot:
		if _, ok := p.take("NOT"); ok {
			e, err := p.binary(levelNot)
			return not(e), err
		}
		return p.binary(level + 1)
	case level == levelIs:
		e, err := p.binary(level + 1)
		if err != nil {
			return e, err
		}
		return p.is(e)
	}
	left, err := p.binary(level + 1)
	for err == nil {
		operator, ok := p.take(levels[level]...)
		if !ok {
			return left, nil
		}
		var right expression
		if right, err = p.binary(level + 1); err == nil {
			left = operate(operator, left, right)
		}
	}
	return left, err
}

// is reads IS [NOT] NULL, TRUE or FALSE, and their short forms.
func (p *parser) is(e expression) (expression, error) {
	for {
		word, ok := p.take("IS", "ISNULL", "NOTNULL")
		if !ok {
			return e, nil
		}
		negated, what := word == "NOTNULL", "NULL"
		if word == "IS" {
			_, negated = p.take("NOT")
			if what, ok = p.take("NULL", "TRUE", "FALSE"); !ok {
				return e, p.fail(p.at, "IS is followed by NULL, TRUE or FALSE, not %q", p.peek())
			}
		}
		inner := e
		e = expression{kind: boolean, eval: func(s *session) (value, error) {
			v, err := inner.eval(s)
			holds := v.kind == null
			if what != "NULL" {
				holds = v.kind == boolean && (v.integer != 0) == (what == "TRUE")
			}
			return booleanValue(holds != negated), err
		}}
	}
}

func (p *parser) unary() (expression, error) {
	operator, ok := p.take("-", "+", "~")
	if !ok {
		return p.primary()
	}
	e, err := p.unary()
	if err != nil {
		return e, err
	}
	switch operator {
	case "-":
		return operate("-", constant(integerValue(0)), e), nil
	case "~":
		return operate("#", e, constant(integerValue(-1))), nil
	}
	return e, nil
}

func constant(v value) expression {
	return expression{kind: v.kind, eval: func(*session) (value, error) { return v, nil }}
}

func (p *parser) primary() (expression, error) {
	token, start := p.peek(), p.at
	p.at += len(token)
	switch word := strings.ToUpper(token); {
	case token == "":
		return expression{}, p.fail(start, "the expression ends too early")
	case token == "(":
		e, err := p.binary(0)
		if err == nil {
			err = p.expect(")")
		}
		return e, err
	case token == ":":
		return p.variable(start)
	case word == "TRUE" || word == "FALSE":
		return constant(booleanValue(word == "TRUE")), nil
	case word == "NULL":
		return constant(value{kind: null}), nil
	case word == "CASE":
		return p.choice()
	case token[0] >= '0' && token[0] <= '9' || token[0] == '.':
		if n, err := strconv.ParseInt(token, 10, 64); err == nil {
			return constant(integerValue(n)), nil
		}
		f, err := strconv.ParseFloat(token, 64)
		if err != nil {
			return expression{}, p.fail(start, "%q is no number", token)
		}
		return constant(doubleValue(f)), nil
	case isName(token):
		return p.call(token, start)
	}
	return expression{}, p.fail(start, "%q is not expected here", token)
}

func (p *parser) expect(token string) error {
	if _, ok := p.take(token); !ok {
		return p.fail(p.at, "%q is missing before %q", token, p.peek())
	}
	return nil
}

// variable reads the name after a colon.
func (p *parser) variable(start int) (expression, error) {
	end := nameEnd(p.text, p.at)
	if end == p.at {
		return expression{}, p.fail(start, "a colon is followed by the name of a variable")
	}
	name := p.text[p.at:end]
	p.at = end
	p.uses(name, start)
	slot := p.program.slot(name)
	return expression{kind: p.program.known[name], eval: func(s *session) (value, error) {
		if s.vars[slot].kind == unset {
			return value{}, fmt.Errorf("variable %q has no value yet", name)
		}
		return s.vars[slot], nil
	}}, nil
}

// choice reads WHEN … THEN … [ELSE …] END.
func (p *parser) choice() (expression, error) {
	type branch struct{ when, then expression }
	var branches []branch
	otherwise := constant(value{kind: null})
	for {
		word, ok := p.take("WHEN", "ELSE", "END")
		if !ok || word != "WHEN" && len(branches) == 0 {
			return expression{}, p.fail(p.at, "CASE goes on with WHEN, ELSE or END, not with %q", p.peek())
		}
		if word == "END" {
			break
		}
		var b branch
		var err error
		if word == "WHEN" {
			if b.when, err = p.binary(0); err == nil {
				err = p.expect("THEN")
			}
		}
		if err == nil {
			b.then, err = p.binary(0)
		}
		if err != nil {
			return expression{}, err
		}
		if word == "WHEN" {
			branches = append(branches, b)
			continue
		}
		otherwise = b.then
		if err := p.expect("END"); err != nil {
			return expression{}, err
		}
		break
	}
	kind := otherwise.kind
	for _, b := range branches {
		if b.then.kind != kind {
			kind = unset
		}
	}
	return expression{kind: kind, eval: func(s *session) (value, error) {
		for _, b := range branches {
			v, err := b.when.eval(s)
			if err != nil {
				return v, err
			}
			if holds, err := v.truth(); err != nil || holds {
				if err != nil {
					return v, err
				}
				return b.then.eval(s)
			}
		}
		return otherwise.eval(s)
	}}, nil
}

// call reads the arguments of a function.
func (p *parser) call(name string, start int) (expression, error) {
	f, ok := functions()[strings.ToLower(name)]
	if !ok {
		return expression{}, p.fail(start, "unknown function %q%s", name, didYouMean(name, functions()))
	}
	if err := p.expect("("); err != nil {
		return expression{}, err
	}
	var args []expression
	for {
		if _, ok := p.take(")"); ok && len(args) == 0 {
			break
		}
		e, err := p.binary(0)
		if err != nil {
			return e, err
		}
		args = append(args, e)
		if token, ok := p.take(",", ")"); !ok {
			return e, p.fail(p.at, "an argument is followed by \",\" or \")\", not by %q", p.peek())
		} else if token == ")" {
			break
		}
	}
	if len(args) < f.least || len(args) > f.most {
		return expression{}, p.fail(start, "%s takes %s, not %d", name, f.count(), len(args))
	}
	kinds := make([]kind, len(args))
	for i := range args {
		kinds[i] = args[i].kind
	}
	return expression{kind: f.kind(kinds), eval: func(s *session) (value, error) {
		values := make([]value, len(args))
		for i := range args {
			var err error
			if values[i], err = args[i].eval(s); err != nil {
				return value{}, err
			}
		}
		return f.apply(s, values)
	}}, nil
}
