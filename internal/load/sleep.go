package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep blocks the thread for about d, or less if a signal comes. The timers of
// the runtime end up to 1 ms late on an idle process, because its poller counts
// in milliseconds; the kernel's, with the slack of 1 ns that an open loop's threads
// have, some 10 us.
func sleep(d time.Duration) {
	request := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&request, nil) // the caller reads the clock anyway
}
