package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dbcanary/dbcanary/internal/probe"
)

func newDoctorCommand(env *Env) *cobra.Command {
	var dataDir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this host before a run: what will spoil results, and how to mend it",
		Example: `  dbcanary doctor
  dbcanary doctor --data-dir /mnt/nvme --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dataDir == "" {
				dataDir = filepath.Join(env.CacheDir, "work")
			}
			findings, err := probe.Doctor(cmd.Context(), dataDir)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env, findings)
			}
			return printFindings(env, findings)
		},
	}
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "where data directories will be made (default: below the cache directory)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printFindings(env *Env, findings []probe.Finding) error {
	for _, finding := range findings {
		if _, err := fmt.Fprintf(env.Stdout, "%-8s %-22s %s\n", finding.Severity, finding.Name, finding.Found); err != nil {
			return err
		}
		for _, more := range []string{finding.Effect, finding.Mend} {
			if more != "" {
				fmt.Fprintf(env.Stdout, "%31s %s\n", "", more)
			}
		}
	}
	return nil
}
