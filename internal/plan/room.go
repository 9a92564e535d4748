package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcanary/dbcanary"
)

// Sizes for the arithmetic before a run. A fresh data directory takes some 350 MB,
// mostly logs.
const (
	directoryBytes  = 400 << 20
	minServerMemory = 256 << 20
	maxServerMemory = 1 << 30
)

// Room is what a host has to give.
type Room struct {
	MemoryBytes int64 // available
	DiskBytes   int64 // free where the data directories are made
	Dir         string
}

// Need is what a plan takes of a host.
type Need struct {
	Servers     int   // that run at the same time
	DataBytes   int64 // one copy of the loaded data
	ServerBytes int64 // memory that each server gets
	DiskBytes   int64 // of all data directories at once
}

// Cached tells whether the loaded data fits into the memory of each server, as in
// the published reports.
func (n Need) Cached() bool { return n.ServerBytes >= n.DataBytes+n.DataBytes/4 }

// Needs gives what a plan takes of a room. size gives the bytes of one copy of the
// loaded data for a number of rows in each table. Each server gets an equal share
// of the memory, with one share left for the client and the page cache, and no more
// than helps; each target has its loaded data and one copy of it at a time.
func Needs(p dbcanary.Plan, room Room, size func(tableSize int) int64) Need {
	n := Need{Servers: len(p.Targets), DataBytes: size(p.TableSize)}
	n.ServerBytes = min(room.MemoryBytes/int64(n.Servers+1), max(maxServerMemory, 4*n.DataBytes))
	n.DiskBytes = int64(len(p.Targets)) * 2 * (directoryBytes + n.DataBytes)
	return n
}

// CheckRoom refuses a plan that does not fit into the memory or on the disk of a
// host, with the arithmetic and what would fit. Errors have
// dbcanary.CodeUnavailable.
func CheckRoom(p dbcanary.Plan, room Room, size func(tableSize int) int64) error {
	need := Needs(p, room, size)
	if need.ServerBytes < minServerMemory {
		most := int(room.MemoryBytes/minServerMemory) - 1
		return refuse(fmt.Sprintf("no memory for %d targets: %s available / (%d servers + 1 for the client and the page cache) = %s each, and a server needs %s",
			len(p.Targets), bytesText(room.MemoryBytes), need.Servers, bytesText(need.ServerBytes), bytesText(minServerMemory)), fewer(p, most))
	}
	if need.DiskBytes <= room.DiskBytes {
		return nil
	}
	text := fmt.Sprintf("no room in %s for %d targets: %d x 2 data directories x (%s + %s of data) = %s, and %s are free",
		room.Dir, len(p.Targets), len(p.Targets), bytesText(directoryBytes), bytesText(need.DataBytes), bytesText(need.DiskBytes), bytesText(room.DiskBytes))
	fits := func(tableSize int) bool {
		smaller := p
		smaller.TableSize = tableSize
		return Needs(smaller, room, size).DiskBytes <= room.DiskBytes
	}
	if rows := largest(p.TableSize, fits); rows >= leastTableSize {
		return refuse(text, fmt.Sprintf("a table-size of %d would fit, as would another data-dir", rows))
	}
	most := int(room.DiskBytes / (2 * (directoryBytes + need.DataBytes)))
	return refuse(text, fewer(p, most)+", as would another data-dir")
}

// leastTableSize is the smallest table that is measured.
const leastTableSize = 1000

// largest gives the largest table size below one that does not fit, rounded down
// to two digits; 0 if none fits.
func largest(tooLarge int, fits func(int) bool) int {
	low, high := 0, tooLarge
	for high-low > 1 {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	for unit := 1; ; unit *= 10 {
		if low/unit < 100 {
			return low / unit * unit
		}
	}
}

// fewer says which targets fit: the base and those after it.
func fewer(p dbcanary.Plan, most int) string {
	most = min(most, len(p.Targets))
	if most < 2 {
		return "no two targets fit on this host"
	}
	return fmt.Sprintf("%d targets would fit: %s, and the others with the same base in another run", most, strings.Join(p.Targets[:most], " "))
}

func refuse(why, fits string) error {
	return &dbcanary.Error{Code: dbcanary.CodeUnavailable, Err: fmt.Errorf("%s", why), Hint: fits}
}

// leastCost is what the phases of a run take at least, on any machine: what a
// budget must have room for if it is not to be refused.
func leastCost(cost Cost) Cost {
	least := cost
	least.LoadRowsPerSecond, least.Prepare, least.Start, least.CopyRowsPerSecond = 500_000, 500*time.Millisecond, 100*time.Millisecond, 50e6
	return least
}

// CheckBudget refuses a fitted plan whose budget has no room for loading and one
// instance of every target even on a fast machine, with the arithmetic and what
// would fit. Errors have dbcanary.CodeUsage.
func CheckBudget(p dbcanary.Plan, cost Cost) error {
	budget, least := time.Duration(p.BudgetNs), leastCost(cost)
	if budget <= 0 || Duration(p, least, 1) <= budget {
		return nil
	}
	text := fmt.Sprintf("a budget of %s has no room for one instance: %d targets x %d rows at %.0f a second at most = %s to load, and %d benchmarks x %d targets x %d blocks of %s = %s",
		short(budget), len(p.Targets), p.Tables*p.TableSize, least.LoadRowsPerSecond, short(loadTime(p, least)),
		len(p.Benchmarks), len(p.Targets), p.Blocks, short(time.Duration(p.SliceNs)), short(RoundDuration(p, least)))
	fits := fmt.Sprintf("a time of %s would fit, for %d instances of each target", roundUp(Duration(p, cost, minInstances)), minInstances)
	smaller := largest(p.TableSize, func(rows int) bool {
		q := p
		q.TableSize = rows
		return Duration(q, cost, minInstances) <= budget
	})
	if smaller >= leastTableSize {
		fits += fmt.Sprintf(", as would a table-size of %d", smaller)
	}
	return &dbcanary.Error{Code: dbcanary.CodeUsage, Err: fmt.Errorf("%s", text), Hint: fits}
}

// roundUp gives a time in whole minutes.
func roundUp(d time.Duration) string {
	return short((d + time.Minute - 1).Truncate(time.Minute))
}

// short is a time as people write it: without the zeroes of time.Duration.
func short(d time.Duration) string {
	if d >= 10*time.Second {
		d = d.Round(time.Second)
	} else {
		d = d.Round(10 * time.Millisecond)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func bytesText(n int64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
