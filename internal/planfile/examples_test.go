package planfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/plan"
	"github.com/dbcanary/dbcanary/internal/planfile"
)

// Every plan of examples is right, says what it is for, and its time gives at least
// three instances of each target; the small ones run in minutes on a small machine.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(names) < 15 {
		t.Fatalf("%d plans: %v", len(names), err)
	}
	page, err := os.ReadFile("../../docs/REPRODUCE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, source := planfile.Read(name, text)
			p, specs, problems := file.Plan()
			if err := planfile.Tell(source, problems, nil); err != nil {
				t.Fatal(err)
			}
			if file.About == "" {
				t.Error("it does not say what it is for")
			}
			small := strings.HasSuffix(name, "small.yaml")
			room := plan.Room{MemoryBytes: 1 << 40, DiskBytes: 10 << 40}
			if small {
				room = plan.Room{MemoryBytes: 3 << 30, DiskBytes: 8 << 30}
			}
			outline, err := planfile.NewOutline(p, specs, file.Adaptive, room)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s of %s, %d instances, %d blocks, slice %s", plan.Duration(outline.Plan, outline.Cost, outline.Instances()), time.Duration(p.BudgetNs), outline.Instances(), outline.Plan.Blocks, time.Duration(outline.Plan.SliceNs))
			if p.Classic() {
				if outline.Instances() != 1 || !small && time.Duration(outline.Plan.SliceNs) != dbcanary.PublishedSlice {
					t.Errorf("%d instances, slices of %s", outline.Instances(), time.Duration(outline.Plan.SliceNs))
				}
			} else if outline.Instances() < 3 || (outline.Cost.Unknown == 0 && len(outline.Warnings) > 0) {
				t.Errorf("%d instances, warnings %q", outline.Instances(), outline.Warnings)
			}
			if small && (time.Duration(p.BudgetNs) > 10*time.Minute || !outline.Need.Cached()) {
				t.Errorf("it takes %s, %d bytes of data", time.Duration(p.BudgetNs), outline.Need.DataBytes)
			}
			if !strings.Contains(string(page), "examples/"+filepath.Base(name)) {
				t.Error("docs/REPRODUCE.md does not name it")
			}
		})
	}
}
