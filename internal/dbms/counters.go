package dbms

import (
	"math"
	"strconv"

	"github.com/dbcanary/dbcanary/internal/wire"
)

// Counter is a number that a server keeps of what it does.
type Counter struct {
	Value float64
	Gauge bool // a level, not a count
}

// Counters are a server's own counters at one moment.
type Counters struct {
	Values  map[string]Counter // by the names of docs/METRICS.md, without "dbms."
	Missing map[string]string  // what could not be read, and why
}

// Flusher is a server that counts late what its sessions did, unless it is asked.
type Flusher interface {
	// FlushCounters has the server count what the session of a connection, which is
	// idle, has done so far.
	FlushCounters(conn wire.Conn) error
}

// Add keeps a value that is a number; anything else a server shows is none.
func (c *Counters) Add(name, text string, gauge bool) {
	if text == "" || (text[0] < '0' || text[0] > '9') && text[0] != '-' {
		return // ParseFloat takes words such as "infinity" too
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(value, 0) {
		return
	}
	c.Values[name] = Counter{Value: value, Gauge: gauge}
}
