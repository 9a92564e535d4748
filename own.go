package dbcanary

// OwnWorkload is work that a user brings, as it was given. A plan keeps its text:
// the run goes on, and its report can be read, when the files are changed or gone.
type OwnWorkload struct {
	Kind  OwnKind   `json:"kind"`
	Files []OwnFile `json:"files"`           // of a query the queries and what makes the tables; of a YAML file the files of values that it names, too
	Scale int       `json:"scale,omitempty"` // of pgbench's tables

	Delimiter string            `json:"delimiter,omitempty"` // between the statements of a query
	Defines   map[string]string `json:"defines,omitempty"`   // variables of pgbench scripts
}

// OwnFile is a file of an own workload, or what was given in place of one.
type OwnFile struct {
	Name   string `json:"name"` // as the user wrote it
	Text   string `json:"text"`
	Weight int    `json:"weight,omitempty"` // of a pgbench script
}

// OwnKind is how an own workload is written.
type OwnKind string

// The kinds.
const (
	OwnYAML    OwnKind = "yaml"
	OwnPgbench OwnKind = "pgbench"
	OwnQuery   OwnKind = "query"
)
