package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// The providers that bring nothing from elsewhere.
const (
	providerPath    = "path"
	providerDSN     = "dsn"
	providerBuiltin = "builtin"
)

// local finds what a target means without a network. It gives nothing for a
// target of another kind.
type local func(c *Cache, ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error)

// locals registers the local providers.
func locals() []local {
	return []local{dsnBuild, pathBuild, builtinBuild, cachedBuilds, installedBuilds}
}

// dsnBuild is a server that somebody else runs; its version is known once it is asked.
func dsnBuild(_ *Cache, _ context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	if spec.DSN == "" {
		return nil, nil
	}
	build := dbcanary.Build{Family: spec.Family, Provider: providerDSN, Origin: dbcanary.RedactDSN(spec.DSN)}
	return []Candidate{{Build: build, State: StateInstalled}}, nil
}

// pathBuild is an unpacked tarball or a source build that the user names.
func pathBuild(c *Cache, ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	if spec.Path == "" {
		return nil, nil
	}
	build, err := c.identifyPath(ctx, spec.Family, spec.Path)
	if err != nil {
		return nil, err
	}
	return []Candidate{{Build: build, State: StateInstalled}}, nil
}

// identifyPath makes a build of what is below a folder.
func (c *Cache) identifyPath(ctx context.Context, family dbcanary.Family, path string) (dbcanary.Build, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return dbcanary.Build{}, err
	}
	if info, err := os.Stat(dir); err != nil {
		return dbcanary.Build{}, dbcanary.Errorf(dbcanary.CodeUsage, "no build at %s: %w", path, err)
	} else if !info.IsDir() {
		return dbcanary.Build{}, dbcanary.Errorf(dbcanary.CodeUsage, "%s is a file; name the folder that holds bin or sbin", path)
	}
	binary, err := c.options.Identify(ctx, family, dir)
	if err != nil {
		return dbcanary.Build{}, err
	}
	sum, err := checksumFile(binary.Path)
	if err != nil {
		return dbcanary.Build{}, err
	}
	return dbcanary.Build{
		Family: family, Version: binary.Version, Provider: providerPath, Origin: dir, Checksum: sum, Dir: dir,
	}, nil
}

// builtinBuild is the DBMS that is part of this program.
func builtinBuild(c *Cache, ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	if spec.Family != dbcanary.SQLite || spec.Path != "" {
		return nil, nil
	}
	binary, err := c.options.Identify(ctx, spec.Family, "")
	if err != nil {
		return nil, err
	}
	build := dbcanary.Build{Family: spec.Family, Version: binary.Version, Provider: providerBuiltin, Origin: "part of dbcanary"}
	return []Candidate{{Build: build, State: StateInstalled}}, nil
}

// cachedBuilds are the builds in the cache.
func cachedBuilds(c *Cache, ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	if spec.DSN != "" || spec.Path != "" {
		return nil, nil
	}
	entries, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	var candidates []Candidate
	for _, entry := range entries {
		if entry.Family == spec.Family {
			candidates = append(candidates, Candidate{Build: entry.Build, State: StateCached, Name: entry.Name})
		}
	}
	return candidates, nil
}

// installedBuilds are the servers in the usual places of this machine. Those
// that are there and can't be run do not count.
func installedBuilds(c *Cache, ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	if spec.DSN != "" || spec.Path != "" || spec.Family == dbcanary.SQLite {
		return nil, nil
	}
	var candidates []Candidate
	for _, dir := range c.options.Installed {
		if !holdsServer(spec.Family, dir) {
			continue
		}
		build, err := c.identifyPath(ctx, spec.Family, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			build.Origin = fmt.Sprintf("installed in %s", dir)
			candidates = append(candidates, Candidate{Build: build, State: StateInstalled})
		}
	}
	return candidates, nil
}

// serverNames are the programs that tell that a server of a family may be there.
var serverNames = map[dbcanary.Family][]string{
	dbcanary.MySQL:    {"mysqld"},
	dbcanary.MariaDB:  {"mariadbd", "mysqld"},
	dbcanary.Postgres: {"postgres"},
}

var programDirs = []string{"sbin", "bin", "libexec"}

func holdsServer(family dbcanary.Family, dir string) bool {
	for _, programs := range programDirs {
		for _, name := range serverNames[family] {
			// A link that leads out of the folder is a server that lies elsewhere.
			real, err := filepath.EvalSymlinks(filepath.Join(dir, programs, name))
			if err == nil && strings.HasPrefix(real, dir+"/") {
				return true
			}
		}
	}
	return false
}

// InstalledDirs gives the folders of this machine in which a server may be
// installed: those of the servers on path (the value of PATH), and the usual ones.
func InstalledDirs(path string) []string {
	var dirs []string
	seen := map[string]bool{}
	add := func(dir string) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && !seen[real] {
			seen[real] = true
			dirs = append(dirs, real)
		}
	}
	for _, programs := range filepath.SplitList(path) {
		for _, names := range serverNames {
			for _, name := range names {
				// A link in a folder of links leads to where the server's other files are.
				if real, err := filepath.EvalSymlinks(filepath.Join(programs, name)); err == nil && filepath.IsAbs(real) {
					add(filepath.Dir(filepath.Dir(real)))
				}
			}
		}
	}
	for _, pattern := range []string{
		"/usr", "/usr/local", "/usr/local/mysql", "/usr/local/pgsql", "/usr/lib/postgresql/*", "/usr/pgsql-*", "/opt/mysql*", "/opt/mariadb*", "/opt/postgres*",
	} {
		matches, _ := filepath.Glob(pattern) // the patterns are well formed
		for _, match := range matches {
			add(match)
		}
	}
	return dirs
}
