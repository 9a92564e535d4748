package own

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// reader compiles a pgbench script.
type reader struct {
	program  *program
	name     string
	text     string
	at       int
	defined  map[string]bool // variables that are assigned somewhere
	problems []string
}

func (r *reader) problem(offset int, format string, args ...any) {
	line, column := place(r.text, offset)
	r.problems = append(r.problems, fmt.Sprintf("%s:%d:%d: %s", r.name, line, column, fmt.Sprintf(format, args...)))
}

// block reads commands up to the end of the script, or to one of the words that end
// a block of \if, which it gives.
func (r *reader) block(ends ...string) (ops []op, end string, at int) {
	for {
		r.skipBlanks()
		if r.at >= len(r.text) {
			return ops, "", r.at
		}
		if r.text[r.at] != '\\' {
			ops = append(ops, r.statement()...)
			continue
		}
		start := r.at
		word, rest, restAt := r.command()
		for _, one := range ends {
			if word == one {
				if word != "elif" && strings.TrimSpace(rest) != "" {
					r.problem(restAt, "\\%s takes nothing", word)
				}
				r.at = restAt + len(rest)
				return ops, word, restAt
			}
		}
		if next := r.meta(word, rest, start, restAt); next != nil {
			ops = append(ops, next)
		}
	}
}

func (r *reader) skipBlanks() { r.at += blanks(r.text[r.at:]) }

// command reads a line that begins with a backslash; one at its end goes on in the next.
func (r *reader) command() (word, rest string, restAt int) {
	start := r.at + 1
	end := start
	for end < len(r.text) && r.text[end] != '\n' {
		if r.text[end] == '\\' && end+1 < len(r.text) && (r.text[end+1] == '\n' || strings.HasPrefix(r.text[end+1:], "\r\n")) {
			end += strings.IndexByte(r.text[end:], '\n')
		}
		end++
	}
	r.at = end
	restAt = nameEnd(r.text[:end], start)
	// The backslash of a line that goes on is a blank: offsets stay what they are.
	rest = strings.NewReplacer("\\\n", " \n", "\\\r\n", " \r\n").Replace(r.text[restAt:end])
	return r.text[start:restAt], rest, restAt
}

// meta compiles a command, nil for none.
func (r *reader) meta(word, rest string, start, restAt int) op {
	switch word {
	case "set":
		return r.set(rest, restAt)
	case "sleep":
		return r.sleep(rest, restAt)
	case "if":
		return r.conditional(rest, start, restAt)
	case "elif", "else", "endif":
		r.problem(start, "\\%s without \\if", word)
	case "gset", "aset":
		r.problem(start, "\\%s is not to be had: answers are counted and not kept", word)
	case "shell", "setshell":
		r.problem(start, "\\%s is not to be had: a script starts no programs", word)
	case "startpipeline", "endpipeline", "syncpipeline":
		r.problem(start, "\\%s is not to be had: each statement waits for its answer", word)
	case "setrandom":
		r.problem(start, "\\setrandom went with pgbench 9.6: write \\set NAME random(LEAST, MOST)")
	default:
		r.problem(start, "unknown command \\%s%s", word, dbcanary.DidYouMean(word, []string{"set", "sleep", "if", "elif", "else", "endif"}))
	}
	return nil
}

func (r *reader) expression(text string, at int) (expression, bool) {
	p := &parser{program: r.program, text: text, uses: func(name string, offset int) {
		if !r.defined[name] {
			r.problem(at+offset, "variable %q is assigned nowhere%s", name, didYouMean(name, r.defined))
		}
	}}
	e, err := p.parse()
	var wrong *syntaxError
	if errors.As(err, &wrong) {
		r.problem(at+wrong.offset, "%s", wrong.text)
	}
	return e, err == nil
}

// setOp assigns an expression.
type setOp struct {
	slot  int
	where string
	expression
}

func (o *setOp) run(s *session) error {
	v, err := o.eval(s)
	if err != nil {
		return fmt.Errorf("%s: %w", o.where, err)
	}
	s.vars[o.slot] = v
	return nil
}

func (r *reader) set(rest string, restAt int) op {
	from := len(rest) - len(strings.TrimLeft(rest, " \t"))
	end := nameEnd(rest, from)
	if end == from {
		r.problem(restAt, "\\set is followed by the name of a variable")
		return nil
	}
	name := rest[from:end]
	e, ok := r.expression(rest[end:], restAt+end)
	if !ok {
		return nil
	}
	slot := r.program.slot(name)
	// A variable that is assigned twice has a certain kind only if both agree.
	switch r.program.kinds[slot] {
	case unset:
		r.program.kinds[slot] = e.kind
	case e.kind:
	default:
		r.program.kinds[slot] = raw
	}
	if e.kind == unset {
		r.program.kinds[slot] = raw
	}
	return &setOp{slot, r.where(restAt), e}
}

func (r *reader) where(offset int) string {
	line, column := place(r.text, offset)
	return fmt.Sprintf("%s:%d:%d", r.name, line, column)
}

// sleepOp waits.
type sleepOp struct {
	length expression
	unit   time.Duration
	where  string
}

func (o *sleepOp) run(s *session) error {
	v, err := o.length.eval(s)
	var n int64
	if err == nil {
		n, err = v.whole()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.where, err)
	}
	timer := time.NewTimer(time.Duration(n) * o.unit)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.done.Done():
		return s.done.Err()
	}
}

func (r *reader) sleep(rest string, restAt int) op {
	fields := strings.Fields(rest)
	unit := time.Second
	if len(fields) == 2 {
		units := map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second}
		var ok bool
		if unit, ok = units[strings.ToLower(fields[1])]; !ok {
			r.problem(restAt, "\\sleep counts in us, ms or s, not in %q", fields[1])
			return nil
		}
	} else if len(fields) != 1 {
		r.problem(restAt, "\\sleep takes a number and us, ms or s")
		return nil
	}
	if !strings.HasPrefix(fields[0], ":") {
		if _, err := strconv.ParseUint(fields[0], 10, 31); err != nil {
			r.problem(restAt, "\\sleep takes a whole number, not %q", fields[0])
			return nil
		}
	}
	length, ok := r.expression(fields[0], restAt+strings.Index(rest, fields[0]))
	if !ok {
		return nil
	}
	r.program.sleeps = true
	return &sleepOp{length, unit, r.where(restAt)}
}

// ifOp does the first branch whose condition holds.
type ifOp struct{ branches []branch }

type branch struct {
	when  expression // of \else TRUE
	where string
	ops   []op
}

func (o *ifOp) run(s *session) error {
	for i := range o.branches {
		b := &o.branches[i]
		v, err := b.when.eval(s)
		var holds bool
		if err == nil {
			holds, err = v.truth()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.where, err)
		}
		if holds {
			return s.runAll(b.ops)
		}
	}
	return nil
}

// conditional reads on to the \endif of an \if.
func (r *reader) conditional(rest string, start, restAt int) op {
	o := &ifOp{}
	condition := func(rest string, restAt int) branch {
		e, ok := r.expression(rest, restAt)
		if !ok {
			e = constant(value{kind: null})
		}
		return branch{when: e, where: r.where(restAt)}
	}
	next := condition(rest, restAt)
	ends := []string{"elif", "else", "endif"}
	for {
		ops, end, at := r.block(ends...)
		next.ops = ops
		o.branches = append(o.branches, next)
		switch end {
		case "":
			r.problem(start, "\\if without \\endif")
			return o
		case "endif":
			return o
		case "else":
			next = branch{when: constant(booleanValue(true))}
			ends = ends[2:]
		case "elif":
			next = condition(r.text[at:r.at], at)
		}
	}
}

// statement reads SQL up to its semicolon. What ends in "\;" goes to the server
// together with what follows.
func (r *reader) statement() []op {
	l := &lexer{sql: r.text, at: r.at}
	start := r.at
	several := false
	for l.at < len(l.sql) {
		if strings.HasPrefix(l.sql[l.at:], `\;`) {
			several = true
			l.at += 2
			continue
		}
		if l.sql[l.at] == ';' {
			break
		}
		if l.sql[l.at] == '\\' && strings.TrimSpace(l.sql[strings.LastIndexByte(l.sql[:l.at], '\n')+1:l.at]) == "" {
			break // a command: the statement before has no semicolon
		}
		l.next()
	}
	end := l.at
	r.at = min(end+1, len(l.sql))
	if end < len(l.sql) && l.sql[end] == '\\' {
		r.problem(start, "the statement has no semicolon before the command that follows")
		r.at = end
	}
	sql := strings.TrimRight(r.text[start:end], " \t\r\n")
	if sql == "" {
		return nil
	}
	o := &sqlOp{where: r.where(start), sql: sql, asText: several, index: len(r.program.sql)}
	if several {
		o.sql = strings.ReplaceAll(sql, `\;`, ";")
		r.program.several = true
	}
	for _, p := range pieces(sql) {
		if p.variable == "" || r.defined[p.variable] {
			if p.variable != "" {
				r.program.slot(p.variable)
			}
			continue
		}
		if !p.inside {
			r.problem(start+p.offset, "variable %q is assigned nowhere%s", p.variable, didYouMean(p.variable, r.defined))
		}
	}
	r.program.sql = append(r.program.sql, o)
	r.program.writes = r.program.writes || changes(o.sql)
	return []op{o}
}
