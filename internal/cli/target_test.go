package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder may have a "+" in its name, as those of Debian's versions have.
func TestParseTargets_PlusInPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mariadb-1_10.11.19-0+deb12u1-debian")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	specs, err := parseTargets([]string{"mariadb:" + dir + "+noahi", "mariadb:" + dir, "mariadb:" + dir})
	if err != nil {
		t.Fatal(err)
	}
	for i, overlays := range []int{1, 0, 0} {
		if specs[i].Path != dir || len(specs[i].Overlays) != overlays {
			t.Errorf("target %d: path %s, overlays %q", i, specs[i].Path, specs[i].Overlays)
		}
	}
	if specs[2].Name != specs[1].Name+"#2" || baseName(specs[2].Name) != specs[1].Name {
		t.Errorf("the repeated target is named %s", specs[2].Name)
	}
}
