package probe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary"
)

// Fingerprint describes this machine and what lies behind dataDir, which need
// not exist yet. What could not be read is empty or 0, and the host's notes say why.
func Fingerprint(ctx context.Context, dataDir string) dbcanary.Host {
	var host dbcanary.Host
	if ctx.Err() != nil {
		return host
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("kernel: %v", err))
	}
	host.Name = unix.ByteSliceToString(name.Nodename[:])
	host.Kernel = unix.ByteSliceToString(name.Release[:])
	s := system{"/"}
	s.addCPU(&host)
	s.addMemory(&host)
	s.addSystem(&host)
	s.addHardware(&host)
	dir, err := existingAncestor(dataDir)
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("file system: %v", err))
		return host
	}
	s.addFilesystem(&host, dir)
	s.addDisks(&host, dir)
	return host
}

func (s system) addCPU(host *dbcanary.Host) {
	note := func(format string, args ...any) { host.Notes = append(host.Notes, fmt.Sprintf(format, args...)) }
	cpus, err := s.cpuInfo()
	if err != nil {
		note("CPU: %v", err)
	} else {
		host.CPU, host.CPUs = cpuModel(cpus[0]), len(cpus)
		if host.CPU == "" {
			note("CPU: /proc/cpuinfo names no model")
		}
	}
	smt, err := s.read("sys/devices/system/cpu/smt/active")
	if err != nil {
		note("SMT: %v", err)
	}
	host.SMT = smt == "1"
	if host.Governor = s.governor(); host.Governor == "" {
		note("governor: the kernel does not control the CPU frequency here")
	}
}

func (s system) cpuInfo() ([]procfs.CPUInfo, error) {
	fs, err := s.proc()
	if err != nil {
		return nil, err
	}
	cpus, err := fs.CPUInfo()
	if err == nil && len(cpus) == 0 {
		err = errors.New("/proc/cpuinfo names no CPU")
	}
	return cpus, err
}

// cpuModel names a CPU; the numbers of the maker where there is no name, as on ARM.
func cpuModel(cpu procfs.CPUInfo) string {
	if cpu.ModelName != "" {
		return cpu.ModelName
	}
	var parts []string
	for _, part := range [][2]string{{"vendor", cpu.VendorID}, {"family", cpu.CPUFamily}, {"model", cpu.Model}, {"stepping", cpu.Stepping}} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	return strings.Join(parts, ", ")
}

// governor gives the frequency governors in use, usually one; "" if there are none.
func (s system) governor() string {
	var governors []string
	files, _ := filepath.Glob(s.path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			governors = append(governors, strings.TrimSpace(string(text)))
		}
	}
	slices.Sort(governors)
	return strings.Join(slices.Compact(governors), ",")
}

func (s system) addMemory(host *dbcanary.Host) {
	fs, err := s.proc()
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("memory: %v", err))
		return
	}
	memory, err := fs.Meminfo()
	if err == nil && memory.MemTotalBytes == nil {
		err = errors.New("/proc/meminfo has no MemTotal")
	}
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("memory: %v", err))
		return
	}
	host.MemoryBytes = int64(*memory.MemTotalBytes)
	if limit, _, ok := s.memoryLimit(); ok && limit < host.MemoryBytes {
		host.MemoryBytes = limit
	}
}

// addSystem names the distribution and the machine that is virtual.
func (s system) addSystem(host *dbcanary.Host) {
	release, err := s.osRelease()
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("operating system: %v", err))
	}
	host.OS = release
	host.Virtual = s.virtual()
}

// osRelease gives PRETTY_NAME of os-release(5).
func (s system) osRelease() (string, error) {
	file, err := os.Open(s.path("etc/os-release"))
	if err != nil {
		return "", err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			if plain, err := strconv.Unquote(value); err == nil {
				return plain, nil
			}
			return strings.Trim(value, "'"), nil
		}
	}
	return "", errors.New("/etc/os-release has no PRETTY_NAME")
}

// virtual names the hypervisor and the container that this runs in, "" if there is no sign of one.
func (s system) virtual() string {
	var layers []string
	if cpus, err := s.cpuInfo(); err == nil && slices.Contains(cpus[0].Flags, "hypervisor") {
		vendor, _ := s.read("sys/class/dmi/id/sys_vendor")
		product, _ := s.read("sys/class/dmi/id/product_name")
		name := strings.TrimSpace(vendor + " " + product)
		if name == "" {
			name = "virtual machine"
		}
		layers = append(layers, name)
	} else if kind, err := s.read("sys/hypervisor/type"); err == nil {
		layers = append(layers, kind)
	}
	container, err := s.read("run/systemd/container")
	for name, sign := range map[string]string{"docker": ".dockerenv", "podman": "run/.containerenv"} {
		if _, missing := os.Stat(s.path(sign)); err != nil && missing == nil {
			container = name
		}
	}
	if container != "" {
		layers = append(layers, container)
	}
	return strings.Join(layers, ", ")
}

func (s system) addFilesystem(host *dbcanary.Host, dir string) {
	mount, err := s.mountOf(dir)
	if err != nil {
		host.Notes = append(host.Notes, fmt.Sprintf("file system of %s: %v", dir, err))
		return
	}
	host.Filesystem = mount.FSType
	host.MountOptions = strings.Join(mountOptions(mount), ",")
	if strings.HasPrefix(mount.Source, "/dev/") {
		host.Device = mount.Source
	}
}

// mountOf gives the mount that dir, an absolute path without links, lies on.
func (s system) mountOf(dir string) (*procfs.MountInfo, error) {
	fs, err := s.proc()
	if err != nil {
		return nil, err
	}
	mounts, err := fs.GetMounts()
	if err != nil {
		return nil, err
	}
	var found *procfs.MountInfo
	for _, mount := range mounts {
		point := unescapeMount(mount.MountPoint)
		if point != "/" && dir != point && !strings.HasPrefix(dir, point+"/") {
			continue
		}
		// Of equal mount points the last one hides the others.
		if found == nil || len(point) >= len(unescapeMount(found.MountPoint)) {
			found = mount
		}
	}
	if found == nil {
		return nil, errors.New("no mount holds it")
	}
	return found, nil
}

// unescapeMount resolves the octal escapes of blanks in /proc/PID/mountinfo.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}
