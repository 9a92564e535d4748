package probe

import (
	"fmt"
	"os"
)

// networkStats are bytes since the system started.
type networkStats struct {
	loopback       int64 // sent to this host itself
	received, sent int64 // of all other interfaces
}

// network reads /proc/net/dev. Bridges, bonds and the like carry again what a
// device under them carries, so only interfaces with a device count, unless none
// has one, as in a container.
func (s system) network() (networkStats, error) {
	fs, err := s.proc()
	if err != nil {
		return networkStats{}, fmt.Errorf("read the network interfaces: %w", err)
	}
	interfaces, err := fs.NetDev()
	if err != nil {
		return networkStats{}, fmt.Errorf("read the network interfaces: %w", err)
	}
	var real, other networkStats
	hasDevice := false
	for name := range interfaces {
		line := interfaces[name]
		if name == "lo" {
			real.loopback = int64(line.TxBytes)
			continue
		}
		if _, err := os.Stat(s.path("sys/class/net/" + name + "/device")); err == nil {
			hasDevice = true
			real.received += int64(line.RxBytes)
			real.sent += int64(line.TxBytes)
		}
		other.received += int64(line.RxBytes)
		other.sent += int64(line.TxBytes)
	}
	if !hasDevice {
		real.received, real.sent = other.received, other.sent
	}
	return real, nil
}
