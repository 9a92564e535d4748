package dbms

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dbcanary/dbcanary"
)

// socketPrefix begins the name of a directory for sockets outside the instance directory.
const socketPrefix = "dbcanary-"

// Instance is the layout of an instance directory.
type Instance struct {
	Dir     string
	Data    string // the server's data directory
	Tmp     string // temporary files of the server
	Sockets string // unix sockets; outside Dir when that is too long for one
	Log     string // what the server says
	Fresh   bool   // Data holds nothing yet
}

// OpenInstance prepares a claimed directory for a server: it makes what is
// missing and gives it to the account that servers run as.
func OpenInstance(dir string) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	mark, err := readMarker(dir)
	if err != nil {
		return nil, err
	}
	i := &Instance{Dir: dir, Data: filepath.Join(dir, "data"), Tmp: filepath.Join(dir, "tmp"), Log: filepath.Join(dir, "server.log")}
	for _, sub := range []string{i.Data, i.Tmp} {
		if err := makeDir(sub); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(i.Data)
	if err != nil {
		return nil, err
	}
	i.Fresh = len(entries) == 0
	// What an earlier start had to say is kept apart from what this one will say.
	if err := os.Rename(i.Log, i.Log+".previous"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	i.Sockets, err = socketDir(dir, mark)
	return i, err
}

func makeDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("prepare an instance directory: %w", diskError(err))
	}
	if err := Give(path); err != nil {
		return fmt.Errorf("prepare an instance directory: %w", err)
	}
	return nil
}

// socketDir gives a directory whose path leaves room for a socket's name in the
// 107 bytes that the kernel takes: below dir if that is short enough, else a
// temporary one that the marker remembers.
func socketDir(dir string, mark marker) (string, error) {
	const longest = 80 // PostgreSQL adds "/.s.PGSQL.65535"
	inside := filepath.Join(dir, "sock")
	if len(inside) <= longest {
		return inside, makeDir(inside)
	}
	for _, known := range mark.Elsewhere {
		if _, err := os.Stat(known); err == nil {
			return known, nil
		}
	}
	parent := os.TempDir()
	if len(parent) > longest/2 {
		parent = "/tmp"
	}
	outside, err := os.MkdirTemp(parent, socketPrefix)
	if err != nil {
		return "", fmt.Errorf("make a directory for sockets: %w", diskError(err))
	}
	mark.Elsewhere = append(mark.Elsewhere, outside)
	if err := errors.Join(writeMarker(dir, mark), Give(outside)); err != nil {
		return "", errors.Join(err, os.Remove(outside))
	}
	return outside, nil
}

// WriteFile writes a file that only the server's account may read.
func (i *Instance) WriteFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("prepare an instance directory: %w", diskError(err))
	}
	return Give(path)
}

// FreePort gives a loopback TCP port that nobody listens on. Another program may
// take it before the server does, so a start that fails for that is tried again.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free loopback port: %w", err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("find a free loopback port: %v is not a TCP address", listener.Addr())
	}
	return address.Port, nil
}

// NewPassword gives a random password of letters and digits with 130 bits.
func NewPassword() string { return rand.Text() }

// WithTail adds what a server's log says to an error: the lines that tell why, as
// chosen by the driver, or else the last ones.
func WithTail(err error, lines []string, why func(line string) bool) error {
	const most = 3
	var chosen []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && why(line) && !slices.Contains(chosen, line) {
			chosen = append(chosen, line)
		}
	}
	if len(chosen) == 0 {
		chosen = lines
	}
	chosen = chosen[max(0, len(chosen)-most):]
	if len(chosen) == 0 {
		return err
	}
	return fmt.Errorf("%w; the server's log says: %s", err, strings.Join(chosen, " | "))
}

// Merge gives the settings in order of their first mention, each with its last
// value. key makes equal what the server takes for the same name.
func Merge(settings []dbcanary.Setting, key func(name string) string) []dbcanary.Setting {
	at := map[string]int{}
	var merged []dbcanary.Setting
	for _, setting := range settings {
		k := key(setting.Name)
		if i, ok := at[k]; ok {
			merged[i] = setting
			continue
		}
		at[k] = len(merged)
		merged = append(merged, setting)
	}
	return merged
}

// CheckSettings refuses settings that can't be written to an option file, and
// those that dbcanary decides: where the server listens and keeps its data.
func CheckSettings(settings []dbcanary.Setting, reserved []string, key func(name string) string) error {
	for _, setting := range settings {
		if setting.Name == "" || strings.ContainsAny(setting.Name, "\n\r\x00=#;[] \t'\"") {
			return dbcanary.Errorf(dbcanary.CodeUsage, "setting %q: not a name that an option file can hold", setting.Name)
		}
		if strings.ContainsAny(setting.Value, "\n\r\x00") {
			return dbcanary.Errorf(dbcanary.CodeUsage, "setting %s: the value has a line break", setting.Name)
		}
		if slices.Contains(reserved, key(setting.Name)) {
			return dbcanary.Errorf(dbcanary.CodeUsage, "setting %s: dbcanary chooses it for each instance; leave it out", setting.Name)
		}
	}
	return nil
}
