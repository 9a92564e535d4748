package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

// server is a database file and the handle to it. There is no process: SQLite
// runs on the threads of whoever calls it, so StartOptions.CPUs says nothing.
type server struct {
	version string
	dsn     string
	path    string
	admin   *sql.DB
	done    chan struct{}
	detach  func() bool // of the context that Start was given

	stop    sync.Once
	stopErr error
}

// Start opens the database file in the instance directory and makes it if it is not there.
func (d *Driver) Start(ctx context.Context, options dbms.StartOptions) (dbms.Server, error) {
	server, err := d.start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start sqlite %s: %w", options.Build.Version, err)
	}
	return server, nil
}

func (d *Driver) start(ctx context.Context, options dbms.StartOptions) (_ *server, err error) {
	instance, err := dbms.OpenInstance(options.Dir)
	if err != nil {
		return nil, err
	}
	settings := dbms.Merge(options.Settings, strings.ToLower)
	if err := checkPragmas(settings); err != nil {
		return nil, err
	}
	s := &server{path: filepath.Join(instance.Data, "dbcanary.db"), done: make(chan struct{})}
	query := url.Values{}
	for _, setting := range settings {
		query.Add("_pragma", setting.Name+"="+setting.Value)
	}
	s.dsn = "file:" + (&url.URL{Path: s.path}).EscapedPath() + "?" + query.Encode()
	if s.admin, err = sql.Open("sqlite", s.dsn); err != nil {
		return nil, err
	}
	if err := s.admin.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&s.version); err != nil {
		return nil, errors.Join(err, s.admin.Close())
	}
	if err := s.refused(ctx, settings); err != nil {
		return nil, errors.Join(err, s.admin.Close())
	}
	s.detach = context.AfterFunc(ctx, func() { s.end() })
	return s, nil
}

var valuePattern = regexp.MustCompile(`^-?[A-Za-z0-9_.]+$`)

// checkPragmas refuses what SQLite would silently ignore.
func checkPragmas(settings []dbcanary.Setting) error {
	for _, setting := range settings {
		if !slices.Contains(effective(), strings.ToLower(setting.Name)) {
			return dbcanary.Errorf(dbcanary.CodeUsage, "unknown pragma %q%s", setting.Name, dbcanary.DidYouMean(setting.Name, effective()))
		}
		if !valuePattern.MatchString(setting.Value) {
			return dbcanary.Errorf(dbcanary.CodeUsage, "pragma %s: %q is not a number or a word", setting.Name, setting.Value)
		}
	}
	return nil
}

// refused compares numbers with what is in force: SQLite says nothing about a
// pragma that it does not obey.
func (s *server) refused(ctx context.Context, wanted []dbcanary.Setting) error {
	inForce, err := s.Settings(ctx)
	if err != nil {
		return err
	}
	numeric := regexp.MustCompile(`^-?\d+$`)
	for _, setting := range wanted {
		if !numeric.MatchString(setting.Value) {
			continue
		}
		for _, now := range inForce {
			if now.Name == strings.ToLower(setting.Name) && numeric.MatchString(now.Value) && now.Value != setting.Value {
				return dbcanary.Errorf(dbcanary.CodeUsage, "pragma %s: SQLite took %s as %s", setting.Name, setting.Value, now.Value)
			}
		}
	}
	return nil
}

// Attach refuses: SQLite has no server that somebody else could run.
func (d *Driver) Attach(context.Context, string) (dbms.Server, error) {
	return nil, dbcanary.Errorf(dbcanary.CodeUsage, "sqlite has no server to connect to; name the target \"sqlite\"")
}

func (s *server) Version() string { return s.version }

func (s *server) PID() int { return 0 }

func (s *server) Address() wire.Address { return wire.Address{Database: s.path} }

func (s *server) Admin() *sql.DB { return s.admin }

func (s *server) Connect(ctx context.Context) (wire.Conn, error) { return dial(ctx, s.dsn) }

func (s *server) Settings(ctx context.Context) (_ []dbcanary.Setting, err error) {
	conn, err := s.admin.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the settings of SQLite: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var settings []dbcanary.Setting
	for _, name := range effective() {
		var value string
		err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			continue // left out of this build of SQLite
		}
		if err != nil {
			return nil, fmt.Errorf("read the setting %s of SQLite: %w", name, err)
		}
		settings = append(settings, dbcanary.Setting{Name: name, Value: value})
	}
	return settings, nil
}

func (s *server) Done() <-chan struct{} { return s.done }

func (s *server) LogTail(int) []string { return nil }

func (s *server) Stop(context.Context) error {
	s.detach()
	s.end()
	return s.stopErr
}

func (s *server) end() {
	s.stop.Do(func() {
		s.stopErr = s.admin.Close()
		close(s.done)
	})
}
