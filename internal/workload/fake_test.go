package workload

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// fakeConn answers as a server with whole tables would, or as answer says.
type fakeConn struct {
	sent    []string // statements with their arguments, if record
	record  bool
	answer  func(sql string) (wire.Result, error) // nil for the right answer
	fixed   *wire.Result                          // the answer to every text, if set
	queries int
}

type fakeStmt struct {
	conn  *fakeConn
	sql   string
	kinds []wire.Kind
}

func (c *fakeConn) Prepare(_ context.Context, sql string, kinds []wire.Kind) (wire.Stmt, error) {
	return &fakeStmt{c, sql, kinds}, nil
}

func (c *fakeConn) Query(query []byte) (wire.Result, error) {
	c.queries++
	if c.fixed != nil {
		return *c.fixed, nil
	}
	if c.record {
		c.sent = append(c.sent, "text      "+string(query))
	}
	if c.answer != nil {
		return c.answer(string(query))
	}
	return wire.Result{}, nil
}

func (c *fakeConn) Abort()       {}
func (c *fakeConn) Close() error { return nil }

func (s *fakeStmt) Exec(args []wire.Arg) (wire.Result, error) {
	s.conn.queries++
	if s.conn.record {
		s.conn.sent = append(s.conn.sent, "prepared  "+s.sql+"  "+showArgs(args, s.kinds))
	}
	if s.conn.answer != nil {
		return s.conn.answer(s.sql)
	}
	switch {
	case strings.HasPrefix(s.sql, "UPDATE") && strings.Contains(s.sql, " IN "):
		return wire.Result{Affected: int64(len(args) - 1)}, nil
	case !strings.HasPrefix(s.sql, "SELECT"):
		return wire.Result{Affected: 1}, nil
	case strings.Contains(s.sql, " IN "):
		return wire.Result{Rows: int64(len(args))}, nil
	case strings.Contains(s.sql, " LIMIT "):
		_, limit, _ := strings.Cut(s.sql, " LIMIT ")
		rows, err := strconv.ParseInt(limit, 10, 64)
		return wire.Result{Rows: rows}, err
	case strings.Contains(s.sql, "("): // an aggregate
		return wire.Result{Rows: 1}, nil
	case strings.Contains(s.sql, "BETWEEN"):
		return wire.Result{Rows: args[1].Int - args[0].Int + 1}, nil
	}
	return wire.Result{Rows: 1}, nil
}

func showArgs(args []wire.Arg, kinds []wire.Kind) string {
	var parts []string
	for i, arg := range args {
		if kinds[i] == wire.Text {
			parts = append(parts, fmt.Sprintf("%q", arg.Text))
		} else {
			parts = append(parts, fmt.Sprint(arg.Int))
		}
	}
	return strings.Join(parts, " ")
}
