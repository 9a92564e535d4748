package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/dbcanary/dbcanary"
	"github.com/dbcanary/dbcanary/internal/bench"
)

// seconds is a duration that may be written as a number of seconds, as sysbench has it.
type seconds time.Duration

func (s *seconds) String() string { return time.Duration(*s).String() }
func (s *seconds) Type() string   { return "duration" }

func (s *seconds) Set(text string) error {
	if d, err := time.ParseDuration(text); err == nil {
		*s = seconds(d)
		return nil
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= 0 && value < 1e9) {
		return fmt.Errorf("%q is neither a number of seconds nor like 1m30s", text)
	}
	*s = seconds(value * float64(time.Second))
	return nil
}

// onOff is a switch in sysbench's words.
type onOff bool

func (o *onOff) String() string { return map[onOff]string{true: "on", false: "off"}[*o] }
func (o *onOff) Type() string   { return "on|off" }

func (o *onOff) Set(text string) error {
	switch strings.ToLower(text) {
	case "on", "true", "1", "yes":
		*o = true
	case "off", "false", "0", "no":
		*o = false
	default:
		return fmt.Errorf("%q is neither on nor off", text)
	}
	return nil
}

// normalizeBench makes sysbench's other spellings of a flag ours.
func normalizeBench(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if ours, ok := map[string]string{
		"num-threads":  "threads",
		"max-time":     "time",
		"max-requests": "events",
		"tx-rate":      "rate",
		"warmup-time":  "warmup",
		"percentile":   "percentiles",
		"db-ps-mode":   "ps-mode",
		"rand-seed":    "seed",

		"mysql-table-engine": "mysql-storage-engine",
	}[name]; ok {
		name = ours
	}
	return pflag.NormalizedName(name)
}

// sysbenchOptions are the options of sysbench beside those that bench has itself.
// They are hidden: docs/BENCH.md lists them.
type sysbenchOptions struct {
	driver, randType      string
	mysql, pgsql          bench.Login
	counts                map[string]*int
	rangeSelects, skipTrx onOff
	fixed                 map[string]*string
	without               map[string]*string
}

// The options of sysbench that change nothing here.
func withoutEffect() map[string]string {
	return map[string]string{
		"db-debug":            "it only prints more",
		"debug":               "it only prints more",
		"forced-shutdown":     "a statement may always run 10 s past the end",
		"luajit-cmd":          "there is no Lua",
		"mysql-debug":         "it only prints more",
		"thread-init-timeout": "--connect-timeout bounds each login",
		"thread-stack-size":   "stacks grow as they need",
		"validate":            "every answer is checked always",
		"verbosity":           "it only prints more or less",
	}
}

// onlyValues are the options that are taken with these values only, of which the
// first is sysbench's default.
func onlyValues() map[string][]string {
	return map[string][]string{
		"auto-inc":             {"on"},
		"config-file":          {""},
		"create-secondary":     {"on"},
		"create-table-options": {""},
		"mysql-compression":    {"off"},
		"mysql-dry-run":        {"off"},
		"mysql-ignore-errors":  {"1213,1020,1205"},
		"mysql-ssl-cipher":     {""},
		"mysql-storage-engine": {"innodb"},
		"pgsql-variant":        {"", "postgres"},
		"rand-pareto-h":        {"0.2"},
		"rand-spec-iter":       {"12"},
		"rand-spec-pct":        {"1"},
		"rand-spec-res":        {"75"},
		"rand-zipfian-exp":     {"0.8"},
		"report-checkpoints":   {""},
	}
}

func countOptions() []string {
	return []string{
		"point-selects", "simple-ranges", "sum-ranges", "order-ranges", "distinct-ranges",
		"index-updates", "non-index-updates", "delete-inserts", "range-size", "random-points",
	}
}

func (o *sysbenchOptions) addFlags(flags *pflag.FlagSet) {
	before := map[string]bool{}
	flags.VisitAll(func(flag *pflag.Flag) { before[flag.Name] = true })
	o.counts, o.fixed, o.without = map[string]*int{}, map[string]*string{}, map[string]*string{}
	flags.StringVar(&o.driver, "db-driver", "mysql", "mysql or pgsql")
	flags.StringVar(&o.randType, "rand-type", "", "uniform, zipfian, gaussian, pareto or special")
	for prefix, login := range map[string]*bench.Login{"mysql": &o.mysql, "pgsql": &o.pgsql} {
		flags.StringVar(&login.Host, prefix+"-host", "", "host")
		flags.StringVar(&login.Port, prefix+"-port", "", "port")
		flags.StringVar(&login.User, prefix+"-user", "", "user")
		flags.StringVar(&login.Password, prefix+"-password", "", "password")
		flags.StringVar(&login.Database, prefix+"-db", "", "database")
	}
	flags.StringVar(&o.mysql.Socket, "mysql-socket", "", "socket")
	flags.StringVar(&o.mysql.SSL, "mysql-ssl", "", "off, on or verify_identity")
	flags.Lookup("mysql-ssl").NoOptDefVal = "on"
	flags.StringVar(&o.pgsql.SSL, "pgsql-sslmode", "", "libpq's sslmode")
	for _, name := range countOptions() {
		o.counts[name] = flags.Int(name, 0, "number")
	}
	flags.Var(&o.rangeSelects, "range-selects", "off for no range")
	flags.Var(&o.skipTrx, "skip-trx", "every statement in autocommit")
	for name, values := range onlyValues() {
		o.fixed[name] = flags.String(name, values[0], "")
	}
	for name := range withoutEffect() {
		o.without[name] = flags.String(name, "", "")
	}
	for _, name := range []string{
		"range-selects", "skip-trx", "auto-inc", "create-secondary", "mysql-compression", "mysql-dry-run",
		"db-debug", "debug", "mysql-debug", "validate",
	} {
		flags.Lookup(name).NoOptDefVal = "on"
	}
	flags.VisitAll(func(flag *pflag.Flag) { flag.Hidden = flag.Hidden || !before[flag.Name] })
}

// check refuses values whose meaning we can't give, and notes options that change nothing.
func (o *sysbenchOptions) check(changed func(string) bool) (notes []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(onlyValues())) {
		values := onlyValues()[name]
		given := *o.fixed[name]
		if changed(name) && !slices.ContainsFunc(values, func(value string) bool { return same(value, given) }) && !ignorable(name, given) {
			return nil, dbcanary.Errorf(dbcanary.CodeUsage, "--%s=%s is not to be had; bench always does as with %q", name, given, values[0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(withoutEffect())) {
		if changed(name) {
			notes = append(notes, fmt.Sprintf("--%s changes nothing: %s", name, withoutEffect()[name]))
		}
	}
	return notes, nil
}

func same(a, b string) bool {
	var left, right onOff
	if left.Set(a) == nil && right.Set(b) == nil {
		return left == right
	}
	return strings.EqualFold(a, b)
}

// ignorable takes lists of errors that are ignored anyway.
func ignorable(name, value string) bool {
	if name != "mysql-ignore-errors" {
		return false
	}
	for code := range strings.SplitSeq(value, ",") {
		if !slices.Contains([]string{"1213", "1020", "1205", "1062"}, strings.TrimSpace(code)) {
			return false
		}
	}
	return true
}

func (o *sysbenchOptions) mix(changed func(string) bool) (bench.Mix, error) {
	count := func(name string) *int {
		if !changed(name) {
			return nil
		}
		return o.counts[name]
	}
	mix := bench.Mix{
		PointSelects: count("point-selects"), SimpleRanges: count("simple-ranges"), SumRanges: count("sum-ranges"),
		OrderRanges: count("order-ranges"), DistinctRanges: count("distinct-ranges"), IndexUpdates: count("index-updates"),
		NonIndexUpdates: count("non-index-updates"), DeleteInserts: count("delete-inserts"),
		RangeSize: count("range-size"), RandomPoints: count("random-points"),
		SkipTrx: bool(o.skipTrx), RandType: o.randType,
	}
	if changed("range-selects") {
		ranges := bool(o.rangeSelects)
		mix.RangeSelects = &ranges
	}
	return mix, oneOf("--db-driver", o.driver, []string{"mysql", "pgsql"})
}

// serverDSN gives the DSN, made of sysbench's options if there is none.
func (o *sysbenchOptions) serverDSN(dsn, name string, changed func(string) bool) (string, error) {
	given := ""
	for _, prefix := range []string{"mysql", "pgsql"} {
		for _, option := range []string{"host", "port", "user", "password", "db", "socket", "ssl", "sslmode"} {
			if changed(prefix + "-" + option) {
				given = prefix
			}
		}
	}
	switch {
	case dsn != "" && given != "":
		return "", dbcanary.Errorf(dbcanary.CodeUsage, "--dsn and --%s-… both name a server: give one of them", given)
	case dsn != "":
		return dsn, nil
	case given == "" && !changed("db-driver") && !bench.IsSysbench(name):
		return "", dbcanary.Errorf(dbcanary.CodeUsage, "which server? say --dsn mysql://user:password@host:3306/database")
	}
	login := o.mysql
	if o.driver == "pgsql" || given == "pgsql" && !changed("db-driver") {
		login = o.pgsql
		login.Driver = "pgsql"
	}
	return login.DSN()
}
