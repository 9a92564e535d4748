package plan

import (
	"errors"
	"fmt"
	"math"
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

// Need is what a plan takes of a host. Servers that somebody else runs take nothing.
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
// than helps; each target has its loaded data and one copy of it at a time. In the
// classic mode there is one target at a time, which is measured where it was loaded.
func Needs(p dbcanary.Plan, room Room, size func(tableSize int) int64) Need {
	n := Need{DataBytes: size(p.TableSize)}
	for _, target := range p.Targets {
		if !strings.Contains(target, "://") { // a DSN
			n.Servers++
		}
	}
	directories := 2 * float64(n.Servers)
	if p.Classic() {
		n.Servers = min(1, n.Servers)
		directories = float64(n.Servers)
	}
	n.ServerBytes = min(room.MemoryBytes/int64(n.Servers+1), max(maxServerMemory, 4*n.DataBytes))
	n.DiskBytes = int64(min(directories*float64(directoryBytes+n.DataBytes), math.MaxInt64/2))
	return n
}

// limits are what a plan must keep to.
type limits struct {
	room Room
	size func(tableSize int) int64
	cost Cost
}

// Check refuses a plan that does not fit into its budget, the memory or the disk of a
// host, with the arithmetic and, if there is one, the plan nearest to it that would be
// accepted. Errors have dbcanary.CodeUnavailable if the host is too small and else
// dbcanary.CodeUsage. What takes long only on some machines is no reason: a budget must
// have room for loading and one instance of every target on a fast one.
func Check(p dbcanary.Plan, cost Cost, room Room, size func(tableSize int) int64) error {
	l := limits{room, size, cost}
	code := dbcanary.CodeUsage
	var reasons []string
	if text := l.lacksTime(p); text != "" {
		reasons = append(reasons, text)
	}
	if text := l.lacksRoom(p); text != "" {
		code, reasons = dbcanary.CodeUnavailable, append(reasons, text)
	}
	if len(reasons) == 0 {
		return nil
	}
	return &dbcanary.Error{Code: code, Err: errors.New(strings.Join(reasons, "; and ")), Hint: l.offer(p)}
}

// CheckRoom is Check of memory and disk alone.
func CheckRoom(p dbcanary.Plan, room Room, size func(tableSize int) int64) error {
	p.BudgetNs = 0
	return Check(p, DefaultCost(), room, size)
}

// lacksRoom says why a plan does not fit on a host, or "".
func (l limits) lacksRoom(p dbcanary.Plan) string {
	need := Needs(p, l.room, l.size)
	switch {
	case p.Classic():
		return l.classicLacksRoom(need)
	case need.Servers == 0:
		return ""
	case need.ServerBytes < minServerMemory:
		return fmt.Sprintf("no memory for %d targets: %s available / (%d servers + 1 for the client and the page cache) = %s each, and a server needs %s",
			need.Servers, bytesText(l.room.MemoryBytes), need.Servers, bytesText(need.ServerBytes), bytesText(minServerMemory))
	case need.DiskBytes > l.room.DiskBytes:
		return fmt.Sprintf("no room in %s for %d targets: %d x 2 data directories x (%s + %s of data) = %s, and %s are free",
			l.room.Dir, need.Servers, need.Servers, bytesText(directoryBytes), bytesText(need.DataBytes), bytesText(need.DiskBytes), bytesText(l.room.DiskBytes))
	}
	return ""
}

// leastCost is what the phases of a run take at least, on any machine: what a
// budget must have room for if it is not to be refused.
func leastCost(cost Cost) Cost {
	least := cost
	least.LoadRowsPerSecond, least.Prepare, least.Start, least.CopyRowsPerSecond, least.Settle = 500_000, 500*time.Millisecond, 100*time.Millisecond, 50e6, 0
	return least
}

// lacksTime says why a budget has no room for one instance, or "".
func (l limits) lacksTime(p dbcanary.Plan) string {
	p, _ = Fit(p, l.cost)
	budget, least := time.Duration(p.BudgetNs), leastCost(l.cost)
	if budget <= 0 || Duration(p, least, 1) <= budget {
		return ""
	}
	if p.Classic() {
		return classicLacksTime(p, least)
	}
	return fmt.Sprintf("a budget of %s has no room for one instance: %d targets x %d rows at %.0f a second at most = %s to load, and %d benchmarks x %d targets x %d blocks of %s = %s",
		short(budget), len(p.Targets), p.Tables*p.TableSize, least.LoadRowsPerSecond, short(loadTime(p, least)),
		len(p.Benchmarks), len(p.Targets), p.Blocks, short(time.Duration(p.SliceNs)), short(RoundDuration(p, least)))
}

// roundUp gives a time in whole minutes.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Minute - 1).Truncate(time.Minute)
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
