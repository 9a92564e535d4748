package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dbcanary/dbcanary/internal/wire"
	"go.uber.org/goleak"
)

func TestConnection_AbortInterruptsAStatement(t *testing.T) {
	defer goleak.VerifyNone(t)
	conn, err := dial(t.Context(), "file:"+filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		close(started)
		_, err := conn.Query([]byte("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"))
		ended <- err
	}()
	<-started
	conn.Abort()
	if err := <-ended; !errors.Is(err, wire.ErrAborted) {
		t.Errorf("an aborted statement gives %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestConnection_BusyIsRetryable(t *testing.T) {
	dsn := "file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=busy_timeout(1)"
	first, err := dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := dial(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := first.Query([]byte("BEGIN IMMEDIATE")); err != nil {
		t.Fatal(err)
	}
	_, err = second.Query([]byte("BEGIN IMMEDIATE"))
	var answer *wire.ServerError
	if !errors.As(err, &answer) || !answer.Retryable || answer.Code != "5" {
		t.Errorf("a busy database gives %v", err)
	}
}

func TestReturnsRows(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT 1": true, " select 1": true, "(SELECT 1)": true, "WITH n AS (SELECT 1) SELECT * FROM n": true, "PRAGMA synchronous": true,
		"INSERT INTO t VALUES (1)": false, "INSERT INTO t VALUES (1) RETURNING id": true, "COMMIT;": false, "BEGIN": false,
	} {
		if got := returnsRows(query); got != want {
			t.Errorf("returnsRows(%q) = %v", query, got)
		}
	}
}
