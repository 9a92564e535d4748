package dbcanary

import (
	"slices"
	"strings"
)

// Family is a DBMS family: a protocol, a way to start, a dialect.
type Family string

// The families.
const (
	MySQL    Family = "mysql"
	MariaDB  Family = "mariadb"
	Postgres Family = "postgres"
	SQLite   Family = "sqlite"
)

// Families lists every family in the order in which help texts show them.
func Families() []Family { return []Family{MySQL, MariaDB, Postgres, SQLite} }

// Setting is one server setting. Value is as the server's option file takes it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Build is the binaries of one DBMS release or commit, with its provenance.
type Build struct {
	Family   Family `json:"family"`
	Version  string `json:"version"`  // exact, as the server binary reports it: "10.11.14"
	Provider string `json:"provider"` // path, debian, npm, dsn, builtin, import
	Origin   string `json:"origin"`   // what the provider served: package, version and suite, or a path; never a password
	Checksum string `json:"checksum"` // "sha256:…" of the main package file or the server binary, npm's own "sha512-…"; "" for dsn and builtin
	Dir      string `json:"dir"`      // base directory of the binaries; "" for dsn and builtin
}

// Config is named server settings: the overlays of a target, in order, later ones win.
type Config struct {
	Name     string    `json:"name"` // "" for the base config, else "+noahi+itc"
	Settings []Setting `json:"settings,omitempty"`
}

// Target is what is measured: a build with a config.
type Target struct {
	Name   string `json:"name"` // as the user wrote it, password removed; unique within a run
	Build  Build  `json:"build"`
	Config Config `json:"config"`
	// Settings are the settings read back from the running server, sorted by name.
	Settings []Setting `json:"settings,omitempty"`
	// Made says how the server was made and what it has loaded, as its process shows,
	// sorted by name: compiler, executable, and libraries with their versions. Empty
	// if its process can't be seen.
	Made []Setting `json:"made,omitempty"`
	// Dropped says why the target could not go on; "" while it takes part.
	Dropped string `json:"dropped,omitempty"`
}

// TargetSpec is a target as a user writes it, parsed but not yet resolved.
// One of Version, Path and DSN is set; none for the newest version to be found.
type TargetSpec struct {
	Name     string // the text, without any password
	Family   Family
	Version  string   // "10.11" of mariadb@10.11
	Path     string   // "/opt/mysql-8.0.40" of mysql:/opt/mysql-8.0.40
	DSN      string   // "mysql://user:password@host/"; may hold a password, so it is never stored or shown
	Overlays []string // "noahi", "innodb_adaptive_hash_index=0", "my.cnf"
}

// ParseTargetSpec reads a target as written on a command line: mariadb@10.11,
// mysql@9.7+noahi, mysql:/opt/mysql-8.0.40+itc, postgres, or a DSN such as
// mysql://root@127.0.0.1:3306/. An overlay starts at a "+" outside a DSN; a DSN
// takes none, since dbcanary does not set up that server. Errors have CodeUsage.
func ParseTargetSpec(text string) (TargetSpec, error) {
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		return parseDSN(text, scheme)
	}
	base, overlays := text, []string(nil)
	if head, tail, ok := strings.Cut(text, "+"); ok {
		base, overlays = head, strings.Split(tail, "+")
	}
	for _, overlay := range overlays {
		if overlay == "" {
			return TargetSpec{}, Errorf(CodeUsage, "target %q: an overlay after \"+\" is empty", text)
		}
	}
	spec := TargetSpec{Name: text, Overlays: overlays}
	family := base
	if name, path, ok := strings.Cut(base, ":"); ok {
		if path == "" {
			return TargetSpec{}, Errorf(CodeUsage, "target %q: the path after \":\" is empty", text)
		}
		family, spec.Path = name, path
	} else if name, version, ok := strings.Cut(base, "@"); ok {
		if version == "" {
			return TargetSpec{}, Errorf(CodeUsage, "target %q: the version after \"@\" is empty", text)
		}
		family, spec.Version = name, version
	}
	var err error
	spec.Family, err = ParseFamily(family)
	if err != nil {
		return TargetSpec{}, Errorf(CodeUsage, "target %q: %w", text, err)
	}
	return spec, nil
}

func parseDSN(text, scheme string) (TargetSpec, error) {
	name := RedactDSN(text)
	if scheme == "postgresql" {
		scheme = string(Postgres)
	}
	family, err := ParseFamily(scheme)
	if err != nil || family == SQLite {
		return TargetSpec{}, Errorf(CodeUsage, "target %q: a DSN starts with mysql://, mariadb:// or postgres://", name)
	}
	return TargetSpec{Name: name, Family: family, DSN: text}, nil
}

// ParseFamily reads a family name and accepts the usual other spellings.
func ParseFamily(text string) (Family, error) {
	switch strings.ToLower(text) {
	case "mysql":
		return MySQL, nil
	case "mariadb", "maria":
		return MariaDB, nil
	case "postgres", "postgresql", "pg":
		return Postgres, nil
	case "sqlite", "sqlite3":
		return SQLite, nil
	}
	names := make([]string, 0, len(Families()))
	for _, family := range Families() {
		names = append(names, string(family))
	}
	return "", Errorf(CodeUsage, "unknown DBMS %q%s", text, DidYouMean(text, names))
}

// RedactDSN gives the DSN without its password, also one among the parameters.
func RedactDSN(dsn string) string {
	scheme, rest, ok := strings.Cut(dsn, "://")
	if !ok {
		return dsn
	}
	// The password may itself hold "@" or "/", so the last "@" ends it.
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, _, _ := strings.Cut(rest[:at], ":")
		rest = user + rest[at:]
	}
	if head, query, ok := strings.Cut(rest, "?"); ok {
		parameters := slices.DeleteFunc(strings.Split(query, "&"), func(parameter string) bool {
			name, _, _ := strings.Cut(parameter, "=")
			return strings.Contains(strings.ToLower(name), "pass")
		})
		rest = head + "?" + strings.Join(parameters, "&")
	}
	return scheme + "://" + rest
}
