package pgwire_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

func testLoad(t *testing.T, server dbms.Server) {
	c := dial(t, server.Address()).(wire.Loader)
	query(t, c, "CREATE TABLE l (id INT PRIMARY KEY, c VARCHAR(10))")
	const last = 50_000
	id := 1
	rows := func(buf []byte) ([]byte, error) {
		for start := len(buf); id <= last && len(buf)-start < 100_000; id++ {
			buf = fmt.Appendf(buf, "%d\trow %d\n", id, id)
		}
		return buf, nil
	}
	result, err := c.Load([]byte("COPY l (id, c) FROM STDIN"), rows)
	if err != nil || result.Affected != last {
		t.Errorf("%+v, %v", result, err)
	}
	if got := query(t, c, "SELECT id FROM l WHERE c = 'row ' || id"); got.Rows != last {
		t.Errorf("%d rows are right", got.Rows)
	}
	var refused *wire.ServerError
	id = last
	if _, err := c.Load([]byte("COPY l (id, c) FROM STDIN"), rows); !errors.As(err, &refused) || refused.Code != "23505" {
		t.Errorf("a row that is there already: %v", err)
	}
	if _, err := c.Load([]byte("COPY nosuch FROM STDIN"), rows); !errors.As(err, &refused) || refused.Code != "42P01" {
		t.Errorf("no such table: %v", err)
	}
	enough := errors.New("enough")
	sent := false
	_, err = c.Load([]byte("COPY l FROM STDIN"), func(buf []byte) ([]byte, error) {
		if sent {
			return nil, enough
		}
		sent = true
		return append(buf, "99999\tx\n"...), nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("rows that can't be made: %v", err)
	}
	if got := query(t, c, "SELECT id FROM l WHERE id = 99999"); got.Rows != 0 {
		t.Error("a load that was given up left a row")
	}
	other := dial(t, server.Address()).(wire.Loader)
	if _, err := other.Load([]byte("SELECT 1"), rows); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("a statement that asks for no rows: %v", err)
	}
}
