package mysqlwire_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// load streams rows, and says what the server does about bad ones.
func (r real) load(t *testing.T) {
	c := r.dial(t, r.server.Address())
	query(t, c, "CREATE TABLE l (id INT PRIMARY KEY, c VARCHAR(10)) ENGINE=InnoDB")
	if _, err := r.server.Admin().ExecContext(t.Context(), "SET GLOBAL local_infile = OFF"); err != nil {
		t.Fatal(err)
	}
	_, err := loadRows(c, 1, 10)
	var refused *wire.ServerError
	if !errors.As(err, &refused) || refused.Code != "3948" && refused.Code != "1148" && refused.Code != "4166" {
		t.Errorf("a server that takes no local files: %v", err)
	}
	if _, err := r.server.Admin().ExecContext(t.Context(), "SET GLOBAL local_infile = ON"); err != nil {
		t.Fatal(err)
	}
	result, err := loadRows(c, 1, 50_000)
	if err != nil || result.Affected != 50_000 {
		t.Errorf("%+v, %v", result, err)
	}
	if got := query(t, c, "SELECT id FROM l WHERE c = CONCAT('row ', id) OR c IS NULL AND id % 1000 = 0"); got.Rows != 50_000 {
		t.Errorf("%d rows are right", got.Rows)
	}
	if _, err := loadRows(c, 50_000, 50_001); err == nil {
		t.Error("a row that is there already is no error")
	}
	if got := query(t, c, "SELECT 1"); got.Rows != 1 {
		t.Error("the connection is of no use after a bad row")
	}
	if _, err := c.(wire.Loader).Load([]byte("SELECT 1"), nil); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("a statement that asks for no rows: %v", err)
	}
	broken := r.dial(t, r.server.Address()).(wire.Loader)
	enough := errors.New("enough")
	sent := false
	_, err = broken.Load([]byte("LOAD DATA LOCAL INFILE 'x' INTO TABLE l"), func(buf []byte) ([]byte, error) {
		if sent {
			return nil, enough
		}
		sent = true
		return append(buf, "99999\tx\n"...), nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("rows that can't be made: %v", err)
	}
	_ = broken.Close()
	if got := query(t, r.dial(t, r.server.Address()), "SELECT id FROM l WHERE id = 99999"); got.Rows != 0 {
		t.Error("a load that was given up left a row")
	}
}

// loadRows loads ids first..last; each thousandth has no text.
func loadRows(c wire.Conn, first, last int) (wire.Result, error) {
	id := first
	return c.(wire.Loader).Load([]byte("LOAD DATA LOCAL INFILE 'rows' INTO TABLE l CHARACTER SET utf8mb4 (id, c)"), func(buf []byte) ([]byte, error) {
		for start := len(buf); id <= last && len(buf)-start < 100_000; id++ {
			if id%1000 == 0 {
				buf = fmt.Appendf(buf, "%d\t\\N\n", id)
			} else {
				buf = fmt.Appendf(buf, "%d\trow %d\n", id, id)
			}
		}
		return buf, nil
	})
}
