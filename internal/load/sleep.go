package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleep blocks the thread for about d, or less if a signal comes. The timers of
// the runtime end up to 1 ms late on an idle process, because its poller counts
// in milliseconds; the kernel's some 10 us, if they may have no slack: the usual
// 50 us would be in every response time. The slack is put back, since a server
// that this thread starts later would inherit it.
func sleep(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Neither call can fail, and the caller reads the clock anyway.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	request := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&request, nil)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // what the process began with
}
