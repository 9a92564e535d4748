// Package buildtest gives tests the real builds that they start.
package buildtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/build"
	"github.com/dbcanary/dbcanary/internal/dbms/drivers"
)

// fetchTimeout bounds a fetch over a slow network, or the wait for another
// test process that fetches the same.
const fetchTimeout = 5 * time.Minute

// Cache is the user's own cache, so that what a test fetches is there for the next one.
func Cache() *build.Cache {
	return build.New(build.Options{
		Dir:       filepath.Join(build.UserDir(os.Geteuid(), os.Getenv), "builds"),
		Identify:  drivers.Identify,
		Environ:   os.Environ(),
		Installed: build.InstalledDirs(os.Getenv("PATH")),
	})
}

// Get gives the build of a target such as "mariadb@10.11" and fetches it if it
// is not there. The test fails if it can't be had.
func Get(t testing.TB, target string) dbcanary.Build {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), fetchTimeout)
	defer cancel()
	spec, err := dbcanary.ParseTargetSpec(target)
	if err != nil {
		t.Fatalf("build for a test: %v", err)
	}
	step := ""
	got, err := Cache().Resolve(ctx, spec, func(event build.Event) {
		if event.Step != step {
			step = event.Step
			t.Logf("%s: %s", event.Build, event.Step)
		}
	})
	if err != nil {
		t.Fatalf("build %s for a test: %v", target, err)
	}
	return got
}
