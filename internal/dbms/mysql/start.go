package mysql

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// launch is what a start has found out so far.
type launch struct {
	driver   *Driver
	binary   dbms.Binary
	layout   layout
	instance *dbms.Instance
	settings []dbcanary.Setting
	cpus     []int
	admin    string // password of the administrator
	user     string // password of the benchmark user
}

// startTimeout bounds the wait for a server that neither ends nor answers.
const startTimeout = 5 * time.Minute

// Start initialises the data directory if it is empty, starts the server and
// waits until it answers.
func (d *Driver) Start(ctx context.Context, options dbms.StartOptions) (dbms.Server, error) {
	server, err := d.start(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start %s %s: %w", d.family, options.Build.Version, err)
	}
	return server, nil
}

func (d *Driver) start(ctx context.Context, options dbms.StartOptions) (*server, error) {
	if err := dbms.CheckSettings(options.Settings, reserved(), optionKey); err != nil {
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
	l := &launch{
		driver: d, binary: binary, layout: findLayout(binary.Path), instance: instance,
		settings: dbms.Merge(options.Settings, optionKey), cpus: options.CPUs,
		admin: dbms.NewPassword(), user: dbms.NewPassword(),
	}
	if instance.Fresh {
		if err := l.initialise(ctx); err != nil {
			return nil, err
		}
	}
	return dbms.WithFreePort(func(port int) (*server, error) { return l.serve(ctx, port) }, portTaken)
}

// portTaken tells whether a start failed since another program took the port.
func portTaken(err error) bool { return strings.Contains(err.Error(), "Address already in use") }

func (l *launch) serve(ctx context.Context, port int) (*server, error) {
	if err := l.writeOptions(port); err != nil {
		return nil, err
	}
	remove, err := l.writeAccounts()
	if err != nil {
		return nil, err
	}
	process, err := dbms.StartProcess(ctx, dbms.Command{
		Path: l.binary.Path, Args: []string{"--defaults-file=" + l.optionFile()}, Dir: l.instance.Data, Log: l.instance.Log, CPUs: l.cpus,
		DeathSignal: syscall.SIGKILL,
	})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	s, err := l.connect(ctx, process, port)
	if err := errors.Join(err, remove()); err != nil {
		process.Kill()
		return nil, l.explain(err)
	}
	return s, nil
}

// explain adds what the server says to an error.
func (l *launch) explain(err error) error {
	return dbms.WithTail(err, dbms.Tail(l.instance.Log, 60), isReason)
}

// isReason picks the log lines that say why a server ended.
func isReason(line string) bool {
	if !strings.Contains(line, "[ERROR]") && !strings.Contains(line, "[FATAL]") && !strings.Contains(line, "error while loading shared libraries") {
		return false
	}
	for _, mark := range []string{"Aborting", "Data Dictionary initialization failed", "The designated data directory"} {
		if strings.Contains(line, mark) {
			return false // only says that there was an error
		}
	}
	return true
}

func (l *launch) optionFile() string { return filepath.Join(l.instance.Dir, "my.cnf") }

func (l *launch) accountFile() string { return filepath.Join(l.instance.Dir, "accounts.sql") }

// writeOptions writes the option file: where the server lives, then the
// settings. Port 0 is for the initialisation, which listens nowhere.
func (l *launch) writeOptions(port int) error {
	var text strings.Builder
	text.WriteString("[mysqld]\n")
	for _, option := range l.placement() {
		text.WriteString(optionLine(option) + "\n")
	}
	if port != 0 {
		fmt.Fprintf(&text, "bind-address=127.0.0.1\nport=%d\nskip-name-resolve\n%s\n", port, optionLine(dbcanary.Setting{Name: "init-file", Value: l.accountFile()}))
	}
	for _, setting := range l.settings {
		text.WriteString(optionLine(setting) + "\n")
	}
	return l.instance.WriteFile(l.optionFile(), text.String())
}

// placement are the options that keep one instance apart from all others.
func (l *launch) placement() []dbcanary.Setting {
	options := []dbcanary.Setting{
		{Name: "basedir", Value: l.layout.base},
		{Name: "datadir", Value: l.instance.Data},
		{Name: "tmpdir", Value: l.instance.Tmp},
		{Name: "secure-file-priv", Value: l.instance.Tmp},
		{Name: "socket", Value: filepath.Join(l.instance.Sockets, "s")},
		{Name: "pid-file", Value: filepath.Join(l.instance.Data, "server.pid")},
		{Name: "lc-messages-dir", Value: l.layout.messages},
		{Name: "character-sets-dir", Value: l.layout.charsets},
		{Name: "plugin-dir", Value: l.layout.plugins},
	}
	if !l.driver.mariadb() && dbms.CompareVersions(l.binary.Version, "8.0") >= 0 {
		options = append(options, dbcanary.Setting{Name: "loose-mysqlx", Value: "OFF"})
	}
	if !l.driver.mariadb() && dbms.CompareVersions(l.binary.Version, "5.7") >= 0 {
		// No TLS, as published, and no time spent on making its keys.
		options = append(options, dbcanary.Setting{Name: "loose-auto-generate-certs", Value: "OFF"})
	}
	if l.driver.mariadb() {
		options = append(options, dbcanary.Setting{Name: "skip-ssl"})
	}
	known := options[:0]
	for _, option := range options {
		if option.Value != "" || option.Name == "skip-ssl" {
			known = append(known, option)
		}
	}
	return known
}

// writeAccounts writes the statements that the server runs before it accepts a
// connection: they give it new passwords at each start, so that none is kept.
func (l *launch) writeAccounts() (remove func() error, err error) {
	path := l.accountFile()
	statements := accounts(l.driver.family, l.binary.Version, l.admin, l.user)
	if err := l.instance.WriteFile(path, strings.Join(statements, ";\n")+";\n"); err != nil {
		return nil, err
	}
	return func() error { return removeIfThere(path) }, nil
}
