package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/config"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
	"github.com/dbcanary/dbcanary/internal/lab"
	"github.com/dbcanary/dbcanary/internal/report"
	"github.com/dbcanary/dbcanary/internal/store"
	"github.com/dbcanary/dbcanary/internal/ui"
)

// runOptions are the flags of the commands that measure.
type runOptions struct {
	reportOptions
	dataDir string
	gate    bool
	json    bool
}

func (o *runOptions) addFlags(flags *pflag.FlagSet) {
	o.reportOptions.addFlags(flags)
	flags.StringVar(&o.dataDir, "data-dir", "", "where data directories are made (default: below the cache directory)")
	flags.BoolVar(&o.gate, "gate", false, "exit with 3 if a target is slower, with 4 if that can't be told")
	flags.BoolVar(&o.json, "json", false, "print events as lines of JSON, the last one with the report")
}

// resolveTargets finds or fetches the builds and reads the overlays.
func resolveTargets(ctx context.Context, env *Env, specs []dbcanary.TargetSpec) ([]lab.Subject, []dbcanary.Target, error) {
	subjects := make([]lab.Subject, len(specs))
	targets := make([]dbcanary.Target, len(specs))
	// Overlays first: a typo is told before anything is downloaded.
	for i, spec := range specs {
		driver := drivers.For(spec.Family)
		settings, err := config.Resolve(spec.Overlays, driver.Overlays())
		if err != nil {
			return nil, nil, err
		}
		subjects[i] = lab.Subject{Driver: driver, Settings: settings, DSN: spec.DSN}
		targets[i] = dbcanary.Target{Name: spec.Name, Config: newConfig(spec, settings)}
	}
	cache := newCache(env)
	progress := ui.NewFetch(env.Stderr, env.StderrSize, env.Now)
	defer progress.Close()
	for i, spec := range specs {
		resolved, err := cache.Resolve(ctx, spec, progress.Event)
		if err != nil {
			return nil, nil, err
		}
		targets[i].Build = resolved
	}
	return subjects, targets, nil
}

func newConfig(spec dbcanary.TargetSpec, settings []dbcanary.Setting) dbcanary.Config {
	name := ""
	for _, overlay := range spec.Overlays {
		name += "+" + filepath.Base(overlay)
	}
	return dbcanary.Config{Name: name, Settings: settings}
}

// execute runs the plan of run, prints the report of what was measured, also
// when the run was interrupted, and judges the gate.
func execute(ctx context.Context, env *Env, options *runOptions, store *store.Store, run *dbcanary.Run, subjects []lab.Subject) error {
	voice := newVoice(env, options.json)
	laboratory := &lab.Lab{Store: store, WorkDir: options.workDir(env), Emit: voice.Event, Now: time.Now}
	runErr := laboratory.Run(ctx, run, subjects, env.Graceful())
	voice.Close()
	// The user who interrupts a run still gets what it measured.
	trials, err := store.Trials(context.WithoutCancel(ctx), run.ID)
	if err != nil {
		return errors.Join(runErr, err)
	}
	if len(trials) == 0 {
		return runErr
	}
	result := report.New(*run, trials)
	if result.Profiles, err = store.Profiles(context.WithoutCancel(ctx), run.ID); err != nil {
		return errors.Join(runErr, err)
	}
	if err := options.write(env, result, options.json); err != nil {
		return errors.Join(runErr, err)
	}
	if runErr != nil {
		return runErr
	}
	if options.gate {
		return gate(result)
	}
	return nil
}

func (o *runOptions) check() error {
	if o.json && o.format != "text" {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--json and --format %s exclude each other: the last event of --json holds the report", o.format)
	}
	if o.json && o.output != "" {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--json and --output exclude each other: the last event of --json holds the report")
	}
	return o.reportOptions.check()
}

func (o *runOptions) workDir(env *Env) string {
	if o.dataDir != "" {
		return o.dataDir
	}
	return filepath.Join(env.CacheDir, "work")
}

func newVoice(env *Env, json bool) ui.Voice {
	if json {
		return ui.NewJSON(env.Stdout)
	}
	if width, _ := env.StderrSize(); width > 0 && env.Getenv("TERM") != "dumb" {
		return ui.NewLive(env.Stderr, env.StderrSize, env.Now)
	}
	return ui.NewPlain(env.Stderr)
}

func newCache(env *Env) *build.Cache {
	return build.New(build.Options{
		Dir:       filepath.Join(env.CacheDir, "builds"),
		Identify:  drivers.Identify,
		Environ:   env.Environ,
		Stderr:    env.Stderr,
		Installed: build.InstalledDirs(env.Getenv("PATH")),
	})
}

// reportOptions are the flags of the commands that print a report.
type reportOptions struct {
	db      string
	format  string
	output  string
	verbose bool
}

func (o *reportOptions) addFlags(flags *pflag.FlagSet) {
	addStoreFlag(flags, &o.db)
	flags.StringVar(&o.format, "format", "text", "format of the report: "+strings.Join(report.Formats(), ", "))
	flags.StringVarP(&o.output, "output", "o", "", "file to write the report to, instead of the terminal")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "explain every verdict in the text report")
}

func addStoreFlag(flags *pflag.FlagSet, db *string) {
	flags.StringVar(db, "db", "dbcanary.db", "file in which runs are stored")
}

func (o *reportOptions) check() error {
	if err := oneOf("--format", o.format, report.Formats()); err != nil || o.output == "" {
		return err
	}
	// A report after hours of measuring should not fail for a typo.
	if info, err := os.Stat(filepath.Dir(o.output)); err != nil || !info.IsDir() {
		return dbcanary.Errorf(dbcanary.CodeUsage, "--output %s: there is no folder %s", o.output, filepath.Dir(o.output))
	}
	return nil
}

func (o *reportOptions) openStore(ctx context.Context) (*store.Store, error) {
	return store.Open(ctx, o.db)
}

// write prints the report; asEvent makes it the last line of a stream of events.
func (o *reportOptions) write(env *Env, result *report.Report, asEvent bool) error {
	if asEvent {
		if _, err := fmt.Fprint(env.Stdout, `{"event":"report","report":`); err != nil {
			return err
		}
		if err := result.Write(env.Stdout, "json", report.Options{Compact: true}); err != nil {
			return err
		}
		_, err := fmt.Fprintln(env.Stdout, "}")
		return err
	}
	if note := result.Note(); note != "" && (o.format != "text" || o.output != "") {
		fmt.Fprintln(env.Stderr, "note: "+note) // most formats have numbers alone
	}
	if o.output != "" {
		var text bytes.Buffer // so that an error leaves the file as it is
		if err := result.Write(&text, o.format, report.Options{Verbose: o.verbose}); err != nil {
			return err
		}
		return os.WriteFile(o.output, text.Bytes(), 0o666)
	}
	width, _ := env.StdoutSize()
	if width > 0 && report.Binary(o.format) {
		return dbcanary.Errorf(dbcanary.CodeUsage, "%s is no text for a terminal: write it to a file with -o report.%s", o.format, o.format)
	}
	return result.Write(env.Stdout, o.format, report.Options{Color: env.Color(width), Width: width, Verbose: o.verbose})
}
