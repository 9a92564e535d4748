package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/exchange"
	"github.com/dbcanary/dbcanary/internal/store"
)

// importOptions are the flags of import.
type importOptions struct {
	db, base, host, benchmark string
}

func newImportCommand(env *Env) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import [TARGET=]FILE|DIR...",
		Short: "Read results of other tools into the store",
		Long: `import reads results of other tools into the store, where report and runs find
them: ` + strings.Join(exchange.ResultFormats(), ", ") + `.
What was recorded beside a result is added to it: ` + strings.Join(exchange.RecordingFormats(), ", ") + `.

A file names the target; of a folder, its name is the target and its files are the
benchmarks. Everything on one command line becomes one run, tables of relative QPS
one for each base. What another tool measured gets no verdict: nobody knows how
often its server was started. A file that cannot be read, or that holds errors, is
named and left out; the others are imported, and the exit code is 1.`,
		Example: `  dbcanary import x.my8028_rel_o2nofp.z11a_bee.pk1 x.my8040_rel_o2nofp.z11a_bee.pk1
  dbcanary import mysql@8.0.28=before.txt mysql@8.0.40=after.txt --benchmark read-only
  dbcanary import results/ --base 8.0.28 --host lab1
  dbcanary import old=old.txt old=old-vmstat.txt new=new.txt new=new-vmstat.txt`,
		Args: atLeast(1, "import needs a file or a folder of results"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	addStoreFlag(cmd.Flags(), &o.db)
	cmd.Flags().StringVar(&o.base, "base", "", "target that the others are compared with (default: the first)")
	cmd.Flags().StringVar(&o.host, "host", "", "name of the machine that it was measured on; only runs of one host make a series")
	cmd.Flags().StringVar(&o.benchmark, "benchmark", "", "name of the benchmark (default: what file and folder tell)")
	return cmd
}

func (o *importOptions) run(ctx context.Context, env *Env, args []string) error {
	files, err := exchange.ReadFiles(ctx, args, exchange.FileOptions{Benchmark: o.benchmark, Stdin: env.Stdin})
	if err != nil {
		return err
	}
	runs, err := exchange.MakeRuns(files.Measurements, exchange.RunOptions{
		Base: o.base, Host: o.host, Program: env.Version, Now: env.Now(),
	})
	if err != nil {
		return err
	}
	rejected := files.Rejected
	for _, run := range runs {
		rejected = append(rejected, run.Rejected...)
	}
	for _, err := range rejected {
		fmt.Fprintf(env.Stderr, "dbcanary: %s\n", err)
	}
	for _, note := range files.Notes {
		fmt.Fprintf(env.Stdout, "note: %s\n", note)
	}
	if len(runs) > 0 {
		if err := o.save(ctx, env, runs, files.Read); err != nil {
			return err
		}
	}
	if len(runs) == 0 && len(rejected) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUsage, "no file holds a result of a benchmark")
	}
	if len(rejected) > 0 {
		return dbcanary.Errorf(dbcanary.CodeFailed, "%d of the results or files were left out, see above", len(rejected))
	}
	return nil
}

// save stores the runs and tells their numbers.
func (o *importOptions) save(ctx context.Context, env *Env, runs []exchange.ImportedRun, files int) error {
	st, err := store.Open(ctx, o.db)
	if err != nil {
		return err
	}
	defer st.Close()
	for i := range runs {
		run, trials := &runs[i].Run, runs[i].Trials
		if err := st.CreateRun(ctx, run); err != nil {
			return err
		}
		for j := range trials {
			if err := st.AddTrial(ctx, run.ID, &trials[j]); err != nil {
				return err
			}
		}
		for j := range runs[i].Profiles {
			if err := st.AddProfile(ctx, run.ID, &runs[i].Profiles[j]); err != nil {
				return err
			}
		}
		run.State = dbcanary.RunDone
		if err := st.SaveRun(ctx, run); err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "run %d: %d results of %d benchmarks on %s\n", run.ID, len(trials), len(run.Plan.Benchmarks), strings.Join(run.Plan.Targets, " "))
		if len(run.Plan.Targets) < 2 {
			fmt.Fprintf(env.Stdout, "note: run %d has one target and nothing to compare it with; name all targets on one command line\n", run.ID)
		}
	}
	fmt.Fprintf(env.Stdout, "imported from %d files; dbcanary report %d shows it\n", files, runs[0].Run.ID)
	return nil
}
