package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// Resolve gives the build that a target means, and fetches it if no matching
// one is on this machine. Without a version in the target it means the newest
// that is to be had; the newest one at hand if the network fails. An error has
// CodeUsage if no such build exists, and CodeUnavailable if it can't be got.
func (c *Cache) Resolve(ctx context.Context, spec dbcanary.TargetSpec, progress Progress) (dbcanary.Build, error) {
	here, err := c.findLocal(ctx, spec)
	if err != nil {
		return dbcanary.Build{}, err
	}
	matching := matches(here, spec)
	if len(matching) > 0 && (spec.Version != "" || !c.fetchable(spec)) {
		return matching[0].Build, nil
	}
	there, err := c.findRemote(ctx, spec, progress)
	if ctx.Err() != nil {
		return dbcanary.Build{}, context.Cause(ctx)
	}
	if len(matching) > 0 && (len(there) == 0 || CompareVersions(matching[0].Version, matches(there, spec)[0].Version) >= 0) {
		return matching[0].Build, nil
	}
	build, err := c.fetchNewest(ctx, spec, here, there, err, progress)
	if err != nil && ctx.Err() == nil && len(matching) > 0 {
		return matching[0].Build, nil
	}
	return build, err
}

// Here gives the build on this machine that a target means; ok is false if none
// matches. Nothing is asked of the network.
func (c *Cache) Here(ctx context.Context, spec dbcanary.TargetSpec) (found dbcanary.Build, ok bool, err error) {
	here, err := c.findLocal(ctx, spec)
	if err != nil {
		return dbcanary.Build{}, false, err
	}
	matching := matches(here, spec)
	if len(matching) == 0 {
		return dbcanary.Build{}, false, nil
	}
	return matching[0].Build, true, nil
}

// Fetch brings the newest build that the providers have for a target, even if
// an older one that matches is here already.
func (c *Cache) Fetch(ctx context.Context, spec dbcanary.TargetSpec, progress Progress) (dbcanary.Build, error) {
	if !c.fetchable(spec) {
		return dbcanary.Build{}, dbcanary.Errorf(dbcanary.CodeUsage, "%s is nothing to fetch", spec.Name)
	}
	here, err := c.findLocal(ctx, spec)
	if err != nil {
		return dbcanary.Build{}, err
	}
	there, err := c.findRemote(ctx, spec, progress)
	return c.fetchNewest(ctx, spec, here, there, err, progress)
}

// Find lists the builds that match a target: on this machine, and to be
// fetched, the newest first. The list may be usable beside an error, which
// then says which providers could not be asked.
func (c *Cache) Find(ctx context.Context, spec dbcanary.TargetSpec, progress Progress) ([]Candidate, error) {
	here, err := c.findLocal(ctx, spec)
	if err != nil {
		return nil, err
	}
	there, remoteErr := c.findRemote(ctx, spec, progress)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	known := here
	for _, candidate := range there {
		cached := slices.ContainsFunc(here, func(h Candidate) bool {
			return h.Provider == candidate.Provider && h.Origin == candidate.Origin
		})
		if !cached {
			known = append(known, candidate)
		}
	}
	newestFirst(known)
	found := matches(known, spec)
	if len(found) == 0 && remoteErr == nil {
		return nil, noMatch(spec, known)
	}
	return found, remoteErr
}

// findLocal lists what is here, the newest first; of equal versions what the
// user had fetched or added goes before what is installed.
func (c *Cache) findLocal(ctx context.Context, spec dbcanary.TargetSpec) ([]Candidate, error) {
	var here []Candidate
	for _, find := range locals() {
		candidates, err := find(c, ctx, spec)
		if err != nil {
			return nil, err
		}
		here = append(here, candidates...)
	}
	newestFirst(here)
	return here, nil
}

func (c *Cache) fetchable(spec dbcanary.TargetSpec) bool {
	return spec.DSN == "" && spec.Path == "" && spec.Family != dbcanary.SQLite
}

// findRemote asks the providers. Candidates may come beside an error.
func (c *Cache) findRemote(ctx context.Context, spec dbcanary.TargetSpec, progress Progress) ([]Candidate, error) {
	if !c.fetchable(spec) {
		return nil, nil
	}
	var there []Candidate
	var failures []error
	for _, source := range c.fetchers {
		if !source.serves(spec.Family) {
			continue
		}
		candidates, err := source.find(ctx, spec.Family, progress)
		if err != nil {
			failures = append(failures, err)
		}
		there = append(there, candidates...)
	}
	newestFirst(there)
	return there, errors.Join(failures...)
}

// fetchNewest fetches the newest match of there; remoteErr says why there may
// be incomplete, and here what else exists.
func (c *Cache) fetchNewest(ctx context.Context, spec dbcanary.TargetSpec, here, there []Candidate, remoteErr error, progress Progress) (dbcanary.Build, error) {
	if ctx.Err() != nil {
		return dbcanary.Build{}, context.Cause(ctx)
	}
	matching := matches(there, spec)
	switch {
	case len(matching) == 0 && remoteErr != nil:
		return dbcanary.Build{}, unavailable(spec, remoteErr)
	case len(matching) == 0:
		return dbcanary.Build{}, noMatch(spec, append(there, here...))
	}
	for _, source := range c.fetchers {
		if source.provider() == matching[0].Provider {
			build, err := c.install(ctx, source, matching[0], progress)
			if err != nil && ctx.Err() == nil {
				return dbcanary.Build{}, unavailable(spec, err)
			}
			return build, err
		}
	}
	return dbcanary.Build{}, dbcanary.Errorf(dbcanary.CodeFailed, "no provider %q", matching[0].Provider)
}

func unavailable(spec dbcanary.TargetSpec, err error) error {
	code := dbcanary.ErrorCode(err)
	if code == dbcanary.CodeFailed {
		code = dbcanary.CodeUnavailable
	}
	// Several providers may have failed; an error is one line.
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	return &dbcanary.Error{Code: code, Op: "fetch " + spec.Name, Err: &oneLine{text, err}}
}

// oneLine is an error told in one line.
type oneLine struct {
	text  string
	cause error
}

func (e *oneLine) Error() string { return e.text }
func (e *oneLine) Unwrap() error { return e.cause }

// matches gives the candidates that a target means. The exact name of a build
// in the cache means that one alone.
func matches(candidates []Candidate, spec dbcanary.TargetSpec) []Candidate {
	var found []Candidate
	for _, candidate := range candidates {
		if spec.Version != "" && candidate.Name == spec.Version {
			return []Candidate{candidate}
		}
		if spec.DSN != "" || MatchesVersion(spec.Version, candidate.Version) {
			found = append(found, candidate)
		}
	}
	return found
}

// noMatch says which builds are nearest to one that does not exist.
func noMatch(spec dbcanary.TargetSpec, known []Candidate) error {
	if len(known) == 0 {
		return dbcanary.Errorf(dbcanary.CodeUnavailable, "no provider has a server of %s for this machine; name one: %s:/path", spec.Family, spec.Family)
	}
	components := 2
	if spec.Family == dbcanary.Postgres {
		components = 1
	}
	var names []string
	for _, candidate := range known {
		names = append(names, fmt.Sprintf("%s@%s", spec.Family, series(candidate.Version, components)))
	}
	asked := fmt.Sprintf("%s@%s", spec.Family, series(spec.Version, components))
	if slices.Contains(names, asked) {
		// The series exists: show its releases.
		names = nil
		for _, candidate := range known {
			if series(candidate.Version, components) == series(spec.Version, components) {
				names = append(names, buildName(candidate.Build))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	asked = fmt.Sprintf("%s@%s", spec.Family, spec.Version)
	return dbcanary.Errorf(dbcanary.CodeUsage, "there is no build %s%s", asked, dbcanary.DidYouMean(asked, names))
}
