package servertest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
)

// LogStatements has the server log the statements that arrive from now on, and
// gives a function that reads them in order, with the values of parameters in
// their places: numbers bare, all else in quotes. It is nil for SQLite, which
// keeps no log. Sessions of PostgreSQL that are open already may miss some.
func (s *Server) LogStatements(t testing.TB) func(t testing.TB) []string {
	t.Helper()
	switch s.Build.Family {
	case dbcanary.MySQL, dbcanary.MariaDB:
		s.exec(t, "SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = ON")
		return s.generalLog
	case dbcanary.Postgres:
		s.exec(t, "ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")
		s.waitForLog(t)
		info, err := os.Stat(s.log)
		if err != nil {
			t.Fatal(err)
		}
		s.logFrom = info.Size()
		return s.postgresLog
	}
	return nil
}

func (s *Server) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.Admin().ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// waitForLog waits until new sessions of PostgreSQL see the setting.
func (s *Server) waitForLog(t testing.TB) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if got := s.texts(t, "SHOW log_statement"); got[0] == "all" {
			return
		}
	}
	t.Fatalf("log_statement is not all after %v", patience)
}

// texts reads the first column of a query.
func (s *Server) texts(t testing.TB, query string) []string {
	t.Helper()
	rows, err := s.Admin().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func (s *Server) generalLog(t testing.TB) []string {
	t.Helper()
	return s.texts(t, "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type IN ('Query', 'Execute')")
}

var (
	loggedStatement = regexp.MustCompile(`LOG:  (?:statement|execute [^:]*): (.*)$`)
	loggedDetail    = regexp.MustCompile(`DETAIL:  [Pp]arameters: (.*)$`)
	loggedValue     = regexp.MustCompile(`(\$\d+) = ('(?:[^']|'')*'|NULL)`)
	placeholder     = regexp.MustCompile(`\$\d+`)
	number          = regexp.MustCompile(`^'-?\d+'$`)
)

// Sessions is how many sessions have sent exactly this text since LogStatements.
func (s *Server) Sessions(t testing.TB, statement string) int {
	t.Helper()
	if s.Build.Family == dbcanary.Postgres {
		text, err := os.ReadFile(s.log)
		if err != nil {
			t.Fatal(err)
		}
		sessions := map[string]bool{}
		line := regexp.MustCompile(`(?m)\[(\d+)\] LOG:  statement: ` + regexp.QuoteMeta(statement) + `$`)
		for _, match := range line.FindAllStringSubmatch(string(text[s.logFrom:]), -1) {
			sessions[match[1]] = true
		}
		return len(sessions)
	}
	query := "SELECT COUNT(DISTINCT thread_id) FROM mysql.general_log WHERE command_type = 'Query' AND CONVERT(argument USING utf8mb4) = '" + statement + "'"
	n, err := strconv.Atoi(s.texts(t, query)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// postgresLog reads what was logged since LogStatements.
func (s *Server) postgresLog(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	return readPostgresLog(string(text[s.logFrom:]))
}

func readPostgresLog(text string) []string {
	var list []string
	statement := false // the last line was of a statement
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "\t"); ok && statement {
			list[len(list)-1] += "\n" + rest // one of several lines
			continue
		}
		statement = false
		if match := loggedStatement.FindStringSubmatch(line); match != nil {
			list = append(list, match[1])
			statement = true
		} else if match := loggedDetail.FindStringSubmatch(line); match != nil && len(list) > 0 {
			last := &list[len(list)-1]
			*last = withValues(*last, match[1])
		}
	}
	return list
}

// withValues puts logged parameters into a logged statement.
func withValues(statement, parameters string) string {
	values := map[string]string{}
	for _, value := range loggedValue.FindAllStringSubmatch(parameters, -1) {
		values[value[1]] = value[2]
		if number.MatchString(value[2]) {
			values[value[1]] = strings.Trim(value[2], "'")
		}
	}
	return placeholder.ReplaceAllStringFunc(statement, func(name string) string { return values[name] })
}
