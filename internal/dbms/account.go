package dbms

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/dbcanary/dbcanary"
	"golang.org/x/sys/unix"
)

// account is an unprivileged user that a server runs as.
type account struct{ uid, gid uint32 }

// serverAccount gives the account for servers when this process is root, since
// PostgreSQL refuses to run as root, and nil otherwise. It is "nobody": there
// on every Linux, and owner of nothing, where "mysql" or "postgres" may own the
// data of a server that matters.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	const overflow = 65534 // the kernel's own nobody, for a system without one in /etc/passwd
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return &account{overflow, overflow}, nil
	}
	uid, err1 := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(nobody.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("look up the user nobody: %w", err)
	}
	return &account{uint32(uid), uint32(gid)}, nil
}

// Give makes the account that servers run as the owner of a file or directory.
func Give(path string) error {
	account, err := serverAccount()
	if err != nil || account == nil {
		return err
	}
	return os.Lchown(path, int(account.uid), int(account.gid))
}

// reachable tells whether every directory above the path lets others through.
func reachable(path string) bool {
	if path == "" {
		return true
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// searchCapability is what lets an unprivileged server pass the directories
// above its binaries and data, such as a root's home with mode 700: of our
// capabilities the one that gives least.
func searchCapability(path string) ([]uintptr, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return nil, fmt.Errorf("read the capabilities of this process: %w", err)
	}
	for _, capability := range []uintptr{unix.CAP_DAC_READ_SEARCH, unix.CAP_DAC_OVERRIDE} {
		if data[0].Permitted&(1<<capability) != 0 {
			return []uintptr{capability}, nil
		}
	}
	return nil, &dbcanary.Error{
		Code: dbcanary.CodeUnavailable, Op: "start " + path,
		Err:  fmt.Errorf("the user nobody, who runs servers for root, may not enter a directory above it: %w", fs.ErrPermission),
		Hint: "make the directories passable for all, or run dbcanary as an ordinary user",
	}
}
