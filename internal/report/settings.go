package report

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// SettingDifference is a setting that is not the same on all targets that can be
// compared by name: those of MySQL and MariaDB with each other, those of
// PostgreSQL and of SQLite with their own. Targets without settings (dropped
// before they could be read) take no part.
type SettingDifference struct {
	Name string
	// Values holds one value for each of Run.Targets; nil where the target has no
	// such setting or takes no part.
	Values []*string
	// Chosen tells that a config of the run names it.
	Chosen bool
	// Partial tells that some targets don't have it while those that have it agree:
	// most often it came or went with a release.
	Partial bool
}

// settingDifferences lists what differs: chosen settings first, then those with
// different values, those that are known for their weight before the others,
// then those that only some have; by name within.
func settingDifferences(targets []dbcanary.Target) []SettingDifference {
	kin := map[string][]int{}
	for i, target := range targets {
		if len(target.Settings) > 0 {
			dialect := settingsDialect(target.Build.Family)
			kin[dialect] = append(kin[dialect], i)
		}
	}
	chosen := map[string]bool{}
	for _, target := range targets {
		for _, setting := range target.Config.Settings {
			chosen[canonicalName(setting.Name)] = true
		}
	}
	var differences []SettingDifference
	for _, members := range kin {
		values := map[string][]*string{}
		for _, i := range members {
			for _, setting := range targets[i].Settings {
				if values[setting.Name] == nil {
					values[setting.Name] = make([]*string, len(targets))
				}
				values[setting.Name][i] = &setting.Value
			}
		}
		for name, list := range values {
			equal, present := sameValues(list)
			difference := SettingDifference{
				Name: name, Values: list, Chosen: chosen[canonicalName(name)],
				Partial: equal && present < len(members),
			}
			if (!equal || difference.Partial) && (difference.Chosen || !ofInstance(name, list)) {
				differences = append(differences, difference)
			}
		}
	}
	slices.SortFunc(differences, func(a, b SettingDifference) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Name, b.Name))
	})
	return differences
}

// withoutEffect lists the settings that a config of some targets asks for and
// that all targets have alike: whoever compares them compares something else.
func withoutEffect(targets []dbcanary.Target) []dbcanary.Setting {
	var alike []dbcanary.Setting
	for _, target := range targets {
		for _, asked := range target.Config.Settings {
			setting, ok := alikeOnAll(targets, target.Build.Family, canonicalName(asked.Name))
			if ok && !slices.Contains(alike, setting) {
				alike = append(alike, setting)
			}
		}
	}
	return alike
}

// alikeOnAll gives a setting if all targets of the family's dialect have the
// same value of it, some because their config asks for it and some without.
func alikeOnAll(targets []dbcanary.Target, family dbcanary.Family, name string) (setting dbcanary.Setting, ok bool) {
	called := func(s dbcanary.Setting) bool { return canonicalName(s.Name) == name }
	asking, silent := 0, 0
	for _, target := range targets {
		if len(target.Settings) == 0 || settingsDialect(target.Build.Family) != settingsDialect(family) {
			continue
		}
		place := slices.IndexFunc(target.Settings, called)
		if place < 0 || asking+silent > 0 && !sameValue(target.Settings[place].Value, setting.Value) {
			return dbcanary.Setting{}, false
		}
		setting = target.Settings[place]
		if slices.ContainsFunc(target.Config.Settings, called) {
			asking++
		} else {
			silent++
		}
	}
	return setting, asking > 0 && silent > 0
}

// weightySettings are those that most often decide how fast a server is.
var weightySettings = []string{
	"binlog_format", "character_set_server", "collation_server", "innodb_*", "log_bin", "optimizer_switch", "performance_schema",
	"query_cache_*", "sync_binlog", "table_open_cache*", "thread_cache_size", "thread_handling", "transaction_isolation", "tx_isolation",
	"version_malloc_library",
	"autovacuum*", "checkpoint_*", "effective_*", "fsync", "full_page_writes", "huge_pages", "io_*", "jit*", "max_parallel_*",
	"max_wal_size", "random_page_cost", "shared_buffers", "synchronous_commit", "wal_*", "work_mem",
	"cache_size", "journal_mode", "mmap_size", "page_size", "synchronous",
}

func (d SettingDifference) rank() int {
	switch {
	case d.Chosen:
		return 0
	case d.Partial:
		return 3
	case matches(d.Name, weightySettings):
		return 1
	}
	return 2
}

// matches tells whether a name fits one of the patterns of path.Match.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}

// settingsDialect names the families whose settings share names.
func settingsDialect(family dbcanary.Family) string {
	if family == dbcanary.MariaDB {
		return string(dbcanary.MySQL)
	}
	return string(family)
}

// canonicalName is a setting's name as servers report it: an option file also
// takes dashes and "loose" in front.
func canonicalName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	return strings.TrimPrefix(name, "loose_")
}

// sameValues tells whether all values that are there mean the same, and how many are there.
func sameValues(values []*string) (equal bool, present int) {
	var first *string
	equal = true
	for _, value := range values {
		if value == nil {
			continue
		}
		present++
		if first == nil {
			first = value
		}
		equal = equal && sameValue(*first, *value)
	}
	return equal, present
}

// sameValue takes 1 and 1.000000, and ON and on, as the same.
func sameValue(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// instanceSettings differ between any two servers or say what the version says,
// and change nothing about how fast a server is. version_malloc_library and
// gtid_mode, for example, do, and are not here.
var instanceSettings = []string{
	"*_port", "*_socket", "cluster_name", "error_count", "external_user", "gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos",
	"gtid_executed", "gtid_next", "gtid_owned", "gtid_purged", "gtid_seq_no", "gtid_slave_pos", "hostname", "identity", "in_transaction",
	"innodb_version", "insert_id", "last_gtid", "last_insert_id", "license", "listen_addresses", "log_bin_basename", "log_error",
	"pid_file", "port", "protocol_version", "proxy_user", "pseudo_thread_id", "rand_seed*", "report_host", "server_id", "server_uid",
	"server_uuid", "server_version", "server_version_num", "socket", "statement_id", "timestamp", "unix_socket_directories",
	"version", "version_comment", "version_compile_machine", "version_compile_os", "version_source_revision", "version_suffix", "warning_count",
}

// ofInstance tells whether a setting is about where a server lives and not about
// how it works: by its name, or because all its values are paths.
func ofInstance(name string, values []*string) bool {
	if matches(name, instanceSettings) {
		return true
	}
	paths := 0
	for _, value := range values {
		switch {
		case value == nil || *value == "":
		case strings.HasPrefix(*value, "/"):
			paths++
		default:
			return false
		}
	}
	return paths > 0
}

// distinctParts shortens values that are lists ("a=on,b=off,…") to the items
// that not all of them have; other values stay as they are.
func distinctParts(values []*string) []string {
	counts := map[string]int{}
	present, isList := 0, false
	for _, value := range values {
		if value == nil {
			continue
		}
		present++
		items := strings.Split(*value, ",")
		isList = isList || len(items) > 2
		slices.Sort(items)
		for _, item := range slices.Compact(items) {
			counts[item]++
		}
	}
	texts := make([]string, len(values))
	for i, value := range values {
		if value == nil {
			texts[i] = "-"
			continue
		}
		texts[i] = *value
		if isList && present > 1 {
			var own []string
			for item := range strings.SplitSeq(*value, ",") {
				if counts[item] < present {
					own = append(own, item)
				}
			}
			texts[i] = "… " + strings.Join(own, ",")
		}
		if texts[i] == "" {
			texts[i] = `""`
		}
	}
	return texts
}
