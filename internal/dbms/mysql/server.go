package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/mysqlwire"
	driver "github.com/go-sql-driver/mysql"
)

// server is a server that runs: one of ours with its process, or an attached one.
type server struct {
	*dbms.Handle
	metricsByWord atomic.Bool // how INNODB_METRICS says what is switched on
}

// connect waits until the server answers and makes the handles to it.
func (l *launch) connect(ctx context.Context, process *dbms.Process, port int) (*server, error) {
	socket := l.instance.Sockets + "/s"
	admin, err := open(wire.Address{Socket: socket, User: adminUser, Password: l.admin})
	if err != nil {
		return nil, err
	}
	where := wire.Address{Host: "127.0.0.1", Port: port, User: benchUser, Password: l.user, Database: database}
	s := &server{Handle: dbms.NewStarted(process, where, syscall.SIGTERM)}
	err = dbms.WaitReady(ctx, process, startTimeout, func(ctx context.Context) error { return final(admin.PingContext(ctx)) })
	if err == nil {
		s.Release, err = askVersion(ctx, admin)
	}
	if err == nil {
		err = l.ignored()
	}
	if err == nil {
		err = createDatabase(ctx, admin)
	}
	if err == nil {
		// Over the socket the server takes the password as it is, and from then on
		// knows it: caching_sha2_password needs no key exchange on TCP any more.
		err = s.tryUser(ctx, socket)
	}
	if err := errors.Join(err, admin.Close()); err != nil {
		return nil, err
	}
	s.DB, err = open(wire.Address{Socket: socket, User: adminUser, Password: l.admin, Database: database})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// final marks an answer that will not change however long one waits: the server
// sets its accounts up before it lets anybody in.
func final(err error) error {
	var answer *driver.MySQLError
	if errors.As(err, &answer) {
		return dbcanary.Errorf(dbcanary.CodeFailed, "log in as the administrator: %w", err)
	}
	return err
}

func (s *server) tryUser(ctx context.Context, socket string) (err error) {
	address := s.Where
	address.Socket = socket
	db, err := open(address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("log in as %s: %w", s.Where.User, err)
	}
	return nil
}

var removedPattern = regexp.MustCompile(`'?([\w-]+)'? was removed\. It does nothing now`)

// ignored refuses a setting that MariaDB takes and does not obey, since a
// comparison would then show that the setting makes no difference.
func (l *launch) ignored() error {
	const startup = 500 // lines; a start writes some thirty
	for _, line := range dbms.Tail(l.instance.Log, startup) {
		match := removedPattern.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		for _, setting := range l.settings {
			if optionKey(setting.Name) == optionKey(match[1]) {
				return dbcanary.Errorf(dbcanary.CodeUsage, "setting %s does nothing in this release; the server says: %s", setting.Name, line)
			}
		}
	}
	return nil
}

// createDatabase makes the database with the server's character set, which the
// session of an init file does not have in MySQL 8 and later.
func createDatabase(ctx context.Context, admin *sql.DB) error {
	var charset, collation string
	if err := admin.QueryRowContext(ctx, "SELECT @@GLOBAL.character_set_server, @@GLOBAL.collation_server").Scan(&charset, &collation); err != nil {
		return fmt.Errorf("create the database %s: %w", database, err)
	}
	statement := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s CHARACTER SET %s COLLATE %s", database, charset, collation)
	if _, err := admin.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("create the database %s: %w", database, err)
	}
	return nil
}

// silent drops what go-sql-driver would print: its errors come back anyway.
type silent struct{}

func (silent) Print(...any) {}

func open(address wire.Address) (*sql.DB, error) {
	config := driver.NewConfig()
	config.User, config.Passwd, config.DBName = address.User, address.Password, address.Database
	config.Net, config.Addr = "tcp", fmt.Sprintf("%s:%d", address.Host, address.Port)
	if address.Socket != "" {
		config.Net, config.Addr = "unix", address.Socket
	}
	config.TLS = address.TLS
	config.Logger = silent{}
	config.Timeout = 10 * time.Second
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	return sql.OpenDB(connector), nil
}

var numbersPattern = regexp.MustCompile(`^\d+(\.\d+)*`)

// askVersion gives "10.11.14" of "10.11.14-MariaDB-0+deb12u1".
func askVersion(ctx context.Context, db *sql.DB) (string, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return "", fmt.Errorf("ask the server for its version: %w", err)
	}
	return numbersPattern.FindString(version), nil
}

func (s *server) Connect(ctx context.Context) (wire.Conn, error) {
	return mysqlwire.Dial(ctx, s.Where)
}

// individual are variables whose values belong to one instance or one moment.
func individual() []string {
	return []string{
		"aria_log_dir_path", "basedir", "character_sets_dir", "datadir", "error_count", "general_log_file", "gtid_binlog_pos", "gtid_binlog_state",
		"gtid_current_pos", "gtid_executed", "gtid_purged", "gtid_slave_pos", "hostname", "identity", "init_file", "insert_id", "last_gtid", "last_insert_id",
		"lc_messages_dir", "log_error", "pid_file", "plugin_dir", "port", "proxy_user", "pseudo_slave_mode", "pseudo_thread_id", "rand_seed1", "rand_seed2",
		"relay_log_basename", "relay_log_index", "report_port", "secure_file_priv", "server_uid", "server_uuid", "slave_load_tmpdir", "replica_load_tmpdir",
		"slow_query_log_file", "socket", "timestamp", "tmpdir", "innodb_tmpdir", "warning_count", "wsrep_data_home_dir", "wsrep_node_name",
	}
}

func (s *server) Settings(ctx context.Context) ([]dbcanary.Setting, error) {
	rows, err := s.DB.QueryContext(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, fmt.Errorf("read the settings of the server: %w", err)
	}
	return dbms.ScanSettings(rows, func(name string) bool { return !slices.Contains(individual(), name) })
}
