package postgres

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
	"github.com/dbcanary/dbcanary/internal/wire"
)

const (
	adminUser = "dbcanary_admin"
	benchUser = "dbcanary"
	database  = "dbcanary"
	// startTimeout bounds the wait for a server that neither ends nor answers.
	startTimeout = 5 * time.Minute
)

// launch is what a start has found out so far.
type launch struct {
	binary   dbms.Binary
	instance *dbms.Instance
	settings []dbcanary.Setting
	cpus     []int
	primary  *wire.Address // of the server that this one follows; nil for none
}

// Start initialises the data directory if it is empty, starts the server and
// waits until it answers.
func (d *Driver) Start(ctx context.Context, options dbms.StartOptions) (dbms.Server, error) {
	server, err := d.start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start postgres %s: %w", options.Build.Version, err)
	}
	return server, nil
}

func (d *Driver) start(ctx context.Context, options dbms.StartOptions) (*server, error) {
	l, err := d.prepare(ctx, options)
	if err != nil {
		return nil, err
	}
	if l.instance.Fresh {
		if err := l.initialise(ctx); err != nil {
			return nil, err
		}
	}
	return dbms.WithFreePort(func(port int) (*server, error) { return l.serve(ctx, port) }, portTaken)
}

// prepare finds out what a start needs to know.
func (d *Driver) prepare(ctx context.Context, options dbms.StartOptions) (*launch, error) {
	if err := dbms.CheckSettings(options.Settings, reserved(), strings.ToLower); err != nil {
		return nil, err
	}
	binary, err := d.Identify(ctx, options.Build.Dir)
	if err != nil {
		return nil, err
	}
	instance, err := dbms.OpenInstance(options.Dir)
	if err != nil {
		return nil, err
	}
	return &launch{binary: binary, instance: instance, settings: dbms.Merge(options.Settings, strings.ToLower), cpus: options.CPUs}, nil
}

// portTaken tells whether a start failed since another program took the port.
func portTaken(err error) bool {
	return strings.Contains(err.Error(), "could not create any TCP/IP sockets")
}

// initialise makes the data directory. Locale C and UTF8 are equal on every
// machine and for every version; page checksums are as in InnoDB.
func (l *launch) initialise(ctx context.Context) error {
	initdb := filepath.Join(filepath.Dir(l.binary.Path), "initdb")
	if _, err := os.Stat(initdb); err != nil {
		return dbcanary.Errorf(dbcanary.CodeUnavailable, "initialise the data directory: %w; a build needs initdb beside postgres", err)
	}
	err := dbms.RunProcess(ctx, dbms.Command{
		Path: initdb, Dir: l.instance.Tmp, Log: l.instance.Log, CPUs: l.cpus,
		Args: []string{"-D", l.instance.Data, "-U", adminUser, "-E", "UTF8", "--no-locale", "--no-sync", "--data-checksums", "-A", "reject"},
	})
	if err != nil && ctx.Err() == nil {
		return l.explain(fmt.Errorf("initialise the data directory: %w", err))
	}
	return err
}

func (l *launch) serve(ctx context.Context, port int) (*server, error) {
	if err := l.configure(port); err != nil {
		return nil, err
	}
	process, err := dbms.StartProcess(ctx, dbms.Command{
		Path: l.binary.Path, Args: []string{"-D", l.instance.Data}, Dir: l.instance.Data, Log: l.instance.Log, CPUs: l.cpus,
		// On SIGQUIT the postmaster ends its backends, which are not in its group,
		// and gives its shared memory back; SIGKILL would leave both.
		DeathSignal: syscall.SIGQUIT,
	})
	if err != nil {
		return nil, err
	}
	s, err := l.connect(ctx, process, port)
	if err != nil {
		process.Kill()
		return nil, l.explain(err)
	}
	return s, nil
}

// configure writes the three files that say where the server listens, whom it
// lets in, and our settings; what initdb wrote into postgresql.conf is kept as
// it depends on the machine only in what we set ourselves.
func (l *launch) configure(port int) error {
	replication, err := l.standby()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, setting := range slices.Concat(l.placement(port), l.settings, replication) {
		fmt.Fprintf(&text, "%s = %s\n", setting.Name, quote(setting.Value))
	}
	login, me := "trust", ""
	if account, err := user.Current(); err == nil && account.Username != "" {
		login, me = "peer map=dbcanary", account.Username
	}
	hba := fmt.Sprintf("local all %[1]s %[2]s\nlocal %[3]s %[4]s scram-sha-256\nhost %[3]s,replication %[4]s 127.0.0.1/32 scram-sha-256\n", adminUser, login, database, benchUser)
	ident := fmt.Sprintf("dbcanary %q %s\n", me, adminUser)
	for name, content := range map[string]string{"postgresql.conf": text.String(), "pg_hba.conf": hba, "pg_ident.conf": ident} {
		if err := l.instance.WriteFile(filepath.Join(l.instance.Data, name), content); err != nil {
			return err
		}
	}
	return nil
}

// placement are the settings that keep one instance apart from all others, and
// those without which it would behave otherwise on another machine.
func (l *launch) placement(port int) []dbcanary.Setting {
	return []dbcanary.Setting{
		{Name: "listen_addresses", Value: "127.0.0.1"},
		{Name: "port", Value: fmt.Sprint(port)},
		{Name: "unix_socket_directories", Value: l.instance.Sockets},
		{Name: "unix_socket_permissions", Value: "0700"},
		{Name: "password_encryption", Value: "scram-sha-256"},
		{Name: "timezone", Value: "UTC"},
		{Name: "log_timezone", Value: "UTC"},
		{Name: "logging_collector", Value: "off"},
	}
}

// explain adds what the server says to an error.
func (l *launch) explain(err error) error {
	return dbms.WithTail(err, dbms.Tail(l.instance.Log, 60), isReason)
}

// isReason picks the log lines that say why a server ended.
func isReason(line string) bool {
	for _, mark := range []string{"contains errors", "the database system is starting up"} {
		if strings.Contains(line, mark) {
			return false // true and of no help
		}
	}
	for _, mark := range []string{"FATAL:", "PANIC:", "ERROR:", "unrecognized configuration parameter", "invalid value for parameter", "outside the valid range", "error while loading shared libraries", "initdb: error"} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return false
}
