package sqlite

import (
	"fmt"

	"github.com/dbcanary/dbcanary"
)

// Defaults gives the pragmas of each connection; docs/SETTINGS.md gives the reasons.
func (d *Driver) Defaults(_ string, memoryBytes int64) []dbcanary.Setting {
	// Every connection has a cache of its own, so each gets a small part.
	const least, most = 2 << 10, 256 << 10
	cacheKB := min(max(memoryBytes/32>>10, least), most)
	return []dbcanary.Setting{
		{Name: "journal_mode", Value: "WAL"},
		{Name: "synchronous", Value: "NORMAL"},
		{Name: "cache_size", Value: fmt.Sprint(-cacheKB)},
		{Name: "temp_store", Value: "MEMORY"},
		{Name: "busy_timeout", Value: "10000"},
	}
}

// Overlays gives the built-in overlays.
func (d *Driver) Overlays() map[string][]dbcanary.Setting {
	return map[string][]dbcanary.Setting{
		"durable": {{Name: "synchronous", Value: "FULL"}},
		"mmap":    {{Name: "mmap_size", Value: "1073741824"}},
	}
}

// effective are the pragmas that hold a setting and can be read back.
func effective() []string {
	return []string{
		"auto_vacuum", "automatic_index", "busy_timeout", "cache_size", "cache_spill", "cell_size_check", "checkpoint_fullfsync", "encoding", "foreign_keys",
		"fullfsync", "hard_heap_limit", "ignore_check_constraints", "journal_mode", "journal_size_limit", "locking_mode", "mmap_size", "page_size",
		"query_only", "read_uncommitted", "recursive_triggers", "reverse_unordered_selects", "secure_delete", "soft_heap_limit", "synchronous", "temp_store",
		"threads", "trusted_schema", "wal_autocheckpoint",
	}
}
