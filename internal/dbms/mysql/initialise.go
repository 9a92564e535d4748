package mysql

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

const (
	adminUser = "dbcanary_admin"
	benchUser = "dbcanary"
	database  = "dbcanary"
)

// initialise makes the system tables in the empty data directory, with the
// settings of the server, since some of them (page size, redo log) are fixed then.
func (l *launch) initialise(ctx context.Context) error {
	if err := l.writeOptions(0); err != nil {
		return err
	}
	command := dbms.Command{
		Path: l.binary.Path, Args: []string{"--defaults-file=" + l.optionFile()}, Dir: l.instance.Data, Log: l.instance.Log, CPUs: l.cpus,
	}
	if !l.driver.mariadb() && dbms.CompareVersions(l.binary.Version, "5.7") >= 0 {
		// Nothing here has to outlive a crash of the host, and waiting for the disk
		// takes most of the time.
		command.Args = append(command.Args, "--initialize-insecure", "--innodb-flush-method=nosync", "--innodb-doublewrite=OFF")
	} else {
		script, err := l.bootstrapScript()
		if err != nil {
			return err
		}
		command.Stdin = strings.NewReader(script)
		// The script's long statements need a larger buffer than the default.
		command.Args = append(command.Args, "--bootstrap", "--max-allowed-packet=8M", "--net-buffer-length=16K")
	}
	if err := dbms.RunProcess(ctx, command); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return l.explain(errors.Join(fmt.Errorf("initialise the data directory: %w", err), l.clear()))
	}
	return nil
}

// clear empties the data directory, so that a later start does not take half of
// an initialisation for data.
func (l *launch) clear() error {
	entries, err := os.ReadDir(l.instance.Data)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(l.instance.Data, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// bootstrapScript joins the SQL files that the install script of the release
// would run; that script itself needs programs which not every build has.
// Anonymous users and a root without password are removed at once.
func (l *launch) bootstrapScript() (string, error) {
	var script strings.Builder
	script.WriteString("CREATE DATABASE IF NOT EXISTS mysql;\nCREATE DATABASE IF NOT EXISTS performance_schema;\nUSE mysql;\nSET @skip_auth_anonymous=1;\n")
	for _, name := range []string{"system_tables.sql", "performance_tables.sql", "system_tables_data.sql"} {
		path := holder(l.layout.scripts, []string{"mariadb_" + name, "mysql_" + name}, "")
		if path == "" {
			if name == "performance_tables.sql" {
				continue // a part of the first file in MySQL 5.6
			}
			return "", dbcanary.Errorf(dbcanary.CodeUnavailable, "initialise the data directory: no mysql_%s near %s", name, l.binary.Path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("initialise the data directory: %w", err)
		}
		script.Write(text)
		script.WriteString("\n")
	}
	table := "user"
	if l.driver.mariadb() && dbms.CompareVersions(l.binary.Version, "10.4") >= 0 {
		table = "global_priv"
	}
	fmt.Fprintf(&script, "DELETE FROM mysql.%s WHERE User IN ('root', '');\n", table)
	return script.String(), nil
}

// accounts are the statements that give the administrator and the benchmark user
// their passwords.
func accounts(family dbcanary.Family, version, admin, user string) []string {
	if family == dbcanary.MariaDB || dbms.CompareVersions(version, "5.7") < 0 {
		return []string{
			fmt.Sprintf("GRANT ALL ON *.* TO '%s'@'%%' IDENTIFIED BY '%s' WITH GRANT OPTION", adminUser, admin),
			fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%' IDENTIFIED BY '%s'", database, benchUser, user),
		}
	}
	var statements []string
	for _, account := range []struct{ name, password string }{{adminUser, admin}, {benchUser, user}} {
		statements = append(statements,
			fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", account.name, account.password),
			fmt.Sprintf("ALTER USER '%s'@'%%' IDENTIFIED BY '%s'", account.name, account.password))
	}
	return append(statements,
		fmt.Sprintf("GRANT ALL ON *.* TO '%s'@'%%' WITH GRANT OPTION", adminUser),
		fmt.Sprintf("GRANT ALL ON %s.* TO '%s'@'%%'", database, benchUser),
		fmt.Sprintf("ALTER USER IF EXISTS 'root'@'localhost' IDENTIFIED BY '%s'", admin))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
