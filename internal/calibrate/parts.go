package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// usualTargets are those that are measured against themselves, one of each family.
func usualTargets() []string { return []string{"mariadb@10.11", "mysql@9.7", "postgres@18"} }

// effect is a change whose direction is known: what it must show on, and what it
// can't touch.
type effect struct {
	about     string
	base      string
	target    string
	want      dbcanary.Verdict
	shown     []string // benchmarks that must have the verdict
	untouched []string // benchmarks that must not differ
	flags     []string // further ones of compare
}

// needlessMark is a setting without any effect on the work, by which the statement
// that makes the needless index knows the target that gets it.
const needlessMark = "max_connect_errors=4242"

// needlessIndex makes an index that no query of the benchmarks needs, on the tables
// of the catalogue, after they are loaded.
func needlessIndex(family dbcanary.Family) []string {
	create := "SET @ddl = IF(@@global.max_connect_errors = 4242, 'CREATE INDEX needless ON sbtest1 (k, pad)', 'DO 0'); " +
		"PREPARE ddl FROM @ddl; EXECUTE ddl; DEALLOCATE PREPARE ddl"
	if family == dbcanary.Postgres {
		create = "DO $$ BEGIN IF current_setting('debug_pretty_print') = 'off' THEN " +
			"CREATE INDEX needless ON sbtest1 (k, pad); END IF; END $$"
	}
	return []string{"--query", "SELECT 1", "--create", create, "--delimiter", map[bool]string{true: "//", false: ";"}[family == dbcanary.Postgres]}
}

// effects is the table of what is known.
func effects() []effect {
	var list []effect
	for _, target := range []string{"mariadb@10.11", "mysql@9.7"} {
		family := dbcanary.Family(strings.Split(target, "@")[0])
		list = append(list,
			effect{
				about: "performance_schema on", base: target, target: target + "+ps", want: dbcanary.Slower,
				shown: []string{"point-query", "read-only range=100"},
			},
			effect{
				about: "a needless secondary index", base: target, target: target + "+" + needlessMark, want: dbcanary.Slower,
				shown: []string{"insert", "update-index"}, untouched: []string{"point-query", "query"}, flags: needlessIndex(family),
			},
			effect{
				about: "adaptive hash index off", base: target + "+ahi", target: target + "+noahi", want: dbcanary.Slower,
				shown: []string{"slap-range-nocover range=1000"}, untouched: []string{"slap-range-cover range=1000"},
			},
			effect{
				about: "innodb_flush_log_at_trx_commit 1 against 2", base: target, target: target + "+innodb_flush_log_at_trx_commit=1", want: dbcanary.Slower,
				shown: []string{"update-index", "insert"}, untouched: []string{"point-query", "scan"},
			})
	}
	return append(list,
		effect{
			about: "a needless secondary index", base: "postgres@18", target: "postgres@18+debug_pretty_print=off", want: dbcanary.Slower,
			shown: []string{"insert", "update-index"}, untouched: []string{"point-query", "query"}, flags: needlessIndex(dbcanary.Postgres),
		},
		effect{
			about: "synchronous_commit on against off", base: "postgres@18", target: "postgres@18+synchronous_commit=on", want: dbcanary.Slower,
			shown: []string{"update-index", "insert"}, untouched: []string{"point-query", "scan"},
		})
}

func (e effect) name() string { return e.about + ", " + e.base + " to " + e.target }

// benchmarks lists those of the run, reads first: what writes would disturb the others.
func (e effect) benchmarks() []string { return append(slices.Clone(e.untouched), e.shown...) }

// The parts of the variance: client and servers on one CPU with and without
// randomised layout, and the other placements.
const (
	layoutRandom = "same, layout random"
	layoutFixed  = "same, layout fixed"
)

type setup struct {
	name, placement string
	fixed           bool
}

func setups() []setup {
	return []setup{
		{layoutRandom, "same", false},
		{layoutFixed, "same", true},
		{"free, layout random", "free", false},
		{"split, layout random", "split", false},
	}
}

// varianceBenchmarks are one that reads and one that writes.
func varianceBenchmarks() []string { return []string{"point-query", "update-index"} }

// quickPair differs by more than a tenth on most benchmarks.
func quickPair() []string { return []string{"mariadb@10.11", "mysql@9.7"} }

// plannedRuns lists what the parts want, in the order in which it is measured:
// families take turns, so that none has the quiet hours to itself.
func plannedRuns(o options) ([]measurement, error) {
	var list []measurement
	limit := []string{"--time", o.time.String()}
	add := func(part, name string, fixed bool, args ...[]string) {
		list = append(list, measurement{Part: part, Name: name, Args: slices.Concat(append(args, o.extra)...), FixedLayout: fixed})
	}
	for _, target := range o.targets {
		if _, err := dbcanary.ParseTargetSpec(target); err != nil {
			return nil, err
		}
	}
	if slices.Contains(o.parts, partAA) {
		for repetition := range o.repetitions {
			for _, target := range o.targets {
				add(partAA, fmt.Sprintf("%s %d", target, repetition+1), false, []string{"compare", target, target}, limit)
			}
		}
	}
	if slices.Contains(o.parts, partEffects) {
		for _, e := range effects() {
			if o.families(e.base) {
				add(partEffects, e.name(), false, []string{"compare", e.base, e.target, "--benchmarks", strings.Join(e.benchmarks(), ",")}, e.flags, limit)
			}
		}
	}
	if slices.Contains(o.parts, partVariance) {
		// Several blocks tell what an instance varies by in itself, and short ones leave the
		// time to many instances.
		for _, s := range setups() {
			for _, target := range o.targets {
				add(partVariance, target+" "+s.name, s.fixed,
					[]string{"noise", target, "--benchmarks", strings.Join(varianceBenchmarks(), ","), "--placement", s.placement, "--slice", "200ms", "--blocks", "3"}, limit)
			}
		}
	}
	if slices.Contains(o.parts, partQuick) && o.families(quickPair()...) {
		add(partQuick, strings.Join(quickPair(), " to "), false, append([]string{"compare"}, quickPair()...))
	}
	return list, nil
}

// families tells whether the targets of the flags have the families of all names.
func (o options) families(names ...string) bool {
	family := func(name string) string { return name[:strings.IndexAny(name+"@", "@:+")] }
	for _, name := range names {
		if !slices.ContainsFunc(o.targets, func(target string) bool { return family(target) == family(name) }) {
			return false
		}
	}
	return true
}
