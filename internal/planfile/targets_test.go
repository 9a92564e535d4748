package planfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dbcanary/dbcanary/internal/planfile"
)

// A folder may have a "+" in its name, as those of Debian's versions have.
func TestTargets_PlusInPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mariadb-1_10.11.19-0+deb12u1-debian")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := planfile.Default()
	for _, name := range []string{"mariadb:" + dir + "+noahi", "mariadb:" + dir, "mariadb:" + dir} {
		file.Targets = append(file.Targets, planfile.Targets{Name: name})
	}
	_, specs, problems := file.Plan()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, overlays := range []int{1, 0, 0} {
		if specs[i].Path != dir || len(specs[i].Overlays) != overlays {
			t.Errorf("target %d: path %s, overlays %q", i, specs[i].Path, specs[i].Overlays)
		}
	}
	if specs[2].Name != specs[1].Name+"#2" || planfile.BaseName(specs[2].Name) != specs[1].Name {
		t.Errorf("the repeated target is named %s", specs[2].Name)
	}
}
