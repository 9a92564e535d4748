package probe

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/dbcanary/dbcanary"
)

// addHardware adds what decides how fast the CPUs and the memory are.
func (s system) addHardware(host *dbcanary.Host) {
	if cpus, err := s.cpuInfo(); err == nil { // without it a note tells so already
		host.Microcode = cpus[0].Microcode
		host.Sockets = sockets(cpus)
	}
	nodes, err := filepath.Glob(s.path("sys/devices/system/node/node[0-9]*"))
	if err == nil {
		host.NUMANodes = len(nodes)
	}
	host.Turbo = s.turbo()
	if text, err := s.read("sys/kernel/mm/transparent_hugepage/enabled"); err == nil {
		host.HugePages = chosen(text)
	}
	// A kernel that tells none of these has none of them.
	host.ClockSource, _ = s.read("sys/devices/system/clocksource/clocksource0/current_clocksource")
	if fs, err := s.proc(); err == nil {
		if memory, err := fs.Meminfo(); err == nil && memory.SwapTotalBytes != nil {
			host.SwapBytes = int64(*memory.SwapTotalBytes)
		}
	}
}

// sockets counts the packages of CPUs, 0 where the kernel does not tell them.
func sockets(cpus []procfs.CPUInfo) int {
	packages := map[string]bool{}
	for i := range cpus {
		if cpus[i].PhysicalID != "" {
			packages[cpus[i].PhysicalID] = true
		}
	}
	return len(packages)
}

// chosen gives the word in brackets of a file that lists what could be chosen,
// "always [madvise] never"; the whole text if there is none.
func chosen(text string) string {
	if _, rest, ok := strings.Cut(text, "["); ok {
		if word, _, ok := strings.Cut(rest, "]"); ok {
			return word
		}
	}
	return text
}

// mountOptions lists the options of a mount and of its file system, sorted.
func mountOptions(mount *procfs.MountInfo) []string {
	options := maps.Clone(mount.Options)
	if options == nil {
		options = map[string]string{}
	}
	maps.Copy(options, mount.SuperOptions)
	var list []string
	for name, value := range options {
		if value != "" {
			name += "=" + value
		}
		list = append(list, name)
	}
	slices.SortFunc(list, cmp.Compare[string])
	return list
}

// addDisks describes the whole disks below the file system of dir.
func (s system) addDisks(host *dbcanary.Host, dir string) {
	if host.Filesystem == "" {
		return // a note tells why
	}
	devices, err := s.disksOf(dir)
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("disk: %v", err))
		return
	}
	var names []string
	for _, device := range devices.Names {
		names = append(names, s.wholeDisks(device, 0)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		disk, err := s.disk(name)
		if err != nil {
			host.Notes = append(host.Notes, fmt.Sprintf("disk: %v", err))
			continue
		}
		host.Disks = append(host.Disks, disk)
	}
}

// wholeDisks gives the disks that a device lies on: of a partition its disk, of a
// volume or an array what it is made of.
func (s system) wholeDisks(device string, depth int) []string {
	const deepest = 8 // a partition of a volume of an array of partitions is 4
	path := s.path("sys/class/block/" + device)
	if depth > deepest {
		return nil
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return s.wholeDisks(filepath.Base(filepath.Dir(real)), depth+1)
		}
	}
	below, err := os.ReadDir(filepath.Join(path, "slaves"))
	if err != nil || len(below) == 0 {
		return []string{device}
	}
	var names []string
	for _, entry := range below {
		names = append(names, s.wholeDisks(entry.Name(), depth+1)...)
	}
	return names
}

func (s system) disk(name string) (dbcanary.Disk, error) {
	const sector = 512
	disk := dbcanary.Disk{Name: name}
	text, err := s.read("sys/class/block/" + name + "/size")
	if err != nil {
		return disk, err
	}
	sectors, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return disk, fmt.Errorf("the size of %s is %q", name, text)
	}
	disk.SizeBytes = sectors * sector
	// Virtual disks lack some of these.
	disk.Model, _ = s.read("sys/class/block/" + name + "/device/model")
	rotational, _ := s.read("sys/class/block/" + name + "/queue/rotational")
	disk.Rotational = rotational == "1"
	if scheduler, err := s.read("sys/class/block/" + name + "/queue/scheduler"); err == nil {
		disk.Scheduler = chosen(scheduler)
	}
	return disk, nil
}
