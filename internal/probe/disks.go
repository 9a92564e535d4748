package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Disks are the block devices that a file system lies on.
type Disks struct {
	Names []string // as in /proc/diskstats: "nvme0n1p1", "md0", "dm-2"
}

// DisksOf gives the devices of the file system that dir lies on, which need not
// exist yet: the device that is mounted, be it a partition, a volume or an array,
// since the kernel counts each of these. An error says why there is none.
func DisksOf(dir string) (*Disks, error) {
	dir, err := existingAncestor(dir)
	if err != nil {
		return nil, err
	}
	return system{"/"}.disksOf(dir)
}

func (s system) disksOf(dir string) (*Disks, error) {
	mount, err := s.mountOf(dir)
	if err != nil {
		return nil, fmt.Errorf("find the disk of %s: %w", dir, err)
	}
	text, err := os.ReadFile(s.path("proc/diskstats"))
	if err != nil {
		return nil, fmt.Errorf("find the disk of %s: %w", dir, err)
	}
	all := parseDiskStats(text)
	for i := range all {
		if all[i].number == mount.MajorMinorVer {
			return &Disks{Names: []string{all[i].name}}, nil
		}
	}
	// Some file systems have a number of their own, and btrfs several devices.
	names, err := s.members(mount)
	if err != nil {
		return nil, fmt.Errorf("find the disk of %s: %w", dir, err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(d diskStats) bool { return d.name == name }) {
			return nil, fmt.Errorf("find the disk of %s: the kernel counts nothing for %s", dir, name)
		}
	}
	return &Disks{Names: names}, nil
}

// members gives the devices of a file system whose own number is no device's.
func (s system) members(mount *procfs.MountInfo) ([]string, error) {
	device, ok := strings.CutPrefix(mount.Source, "/dev/")
	if !ok {
		return nil, fmt.Errorf("%s is no file system on a block device; a data directory on a disk of its own has counts", mount.FSType)
	}
	// /dev/mapper/x and /dev/root are other names of what the kernel calls dm-0 and sda1.
	if real, err := filepath.EvalSymlinks(s.path("dev/" + device)); err == nil {
		device = filepath.Base(real)
	}
	lists, err := filepath.Glob(s.path("sys/fs/btrfs/*/devices"))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		entries, err := os.ReadDir(list)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if slices.Contains(names, device) {
			return names, nil
		}
	}
	return []string{device}, nil
}

// diskStats is a line of /proc/diskstats, see iostats.rst in the kernel's
// documentation. What an older kernel does not count is -1.
type diskStats struct {
	number, name string // "254:0", "vda"

	reads, readSectors, readMs    int64 // sectors are of 512 bytes, whatever the disk's
	writes, writeSectors, writeMs int64
	inFlight, busyMs, queueMs     int64
	flushes, flushMs              int64
}

// parseDiskStats reads /proc/diskstats; lines that are none are left out.
func parseDiskStats(text []byte) []diskStats {
	var all []diskStats
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 14 {
			continue
		}
		numbers := make([]int64, len(fields)-3)
		valid := true
		for i, field := range fields[3:] {
			number, err := strconv.ParseInt(field, 10, 64)
			valid = valid && err == nil && number >= 0
			numbers[i] = number
		}
		if !valid {
			continue
		}
		d := diskStats{
			number: fields[0] + ":" + fields[1], name: fields[2],
			reads: numbers[0], readSectors: numbers[2], readMs: numbers[3],
			writes: numbers[4], writeSectors: numbers[6], writeMs: numbers[7],
			inFlight: numbers[8], busyMs: numbers[9], queueMs: numbers[10],
			flushes: unknown, flushMs: unknown,
		}
		if len(numbers) >= 17 {
			d.flushes, d.flushMs = numbers[15], numbers[16]
		}
		all = append(all, d)
	}
	return all
}

// read sums up what the devices have done since the system started.
func (d *Disks) read(s system) (diskStats, error) {
	text, err := os.ReadFile(s.path("proc/diskstats"))
	if err != nil {
		return diskStats{}, fmt.Errorf("read the disks: %w", err)
	}
	var sum diskStats
	found := 0
	all := parseDiskStats(text)
	for i := range all {
		if slices.Contains(d.Names, all[i].name) {
			sum.add(&all[i])
			found++
		}
	}
	if found != len(d.Names) || found == 0 {
		return diskStats{}, errors.New("read the disks: one of " + strings.Join(d.Names, ", ") + " is gone")
	}
	return sum, nil
}

// add adds another device. What one of them lacks is unknown of both.
func (d *diskStats) add(other *diskStats) {
	for _, pair := range [][2]*int64{
		{&d.reads, &other.reads},
		{&d.readSectors, &other.readSectors},
		{&d.readMs, &other.readMs},
		{&d.writes, &other.writes},
		{&d.writeSectors, &other.writeSectors},
		{&d.writeMs, &other.writeMs},
		{&d.inFlight, &other.inFlight},
		{&d.busyMs, &other.busyMs},
		{&d.queueMs, &other.queueMs},
		{&d.flushes, &other.flushes},
		{&d.flushMs, &other.flushMs},
	} {
		if *pair[0] == unknown || *pair[1] == unknown {
			*pair[0] = unknown
			continue
		}
		*pair[0] += *pair[1]
	}
}
