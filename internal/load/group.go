package load

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dbcanary/dbcanary/internal/wire"
	"github.com/dbcanary/dbcanary/internal/wire/stream"
)

// group is workers that share a thread: while one waits for its answer another
// one runs. With more connections than CPUs, a switch from thread to thread for
// each answer costs more than the answer itself, and on a busy machine several
// answers are there at once. Workers are coroutines, so what they run needs not
// know of it.
type group struct {
	epoll   int
	workers []*worker
	resume  []func() (struct{}, bool) // goes on with a worker; false when it has ended
	forget  []func()                  // frees a worker that was never started
}

// shares tells whether the events of a worker wait for nothing but its connection,
// so that it may share a thread. In an open loop arrivals are waited for.
func (w Worker) shares(options Options) bool {
	waiter, ok := w.Conn.(wire.Waiter)
	return ok && w.Multiplex && !w.Background && !options.Exact && options.Rate == 0 && waiter.FD() >= 0
}

// groupCount is the number of groups for workers that share a thread: one for each
// CPU that this process may use, or none if each worker has a CPU of its own.
func (s *slice) groupCount() int {
	cpus := len(s.options.CPUs)
	if cpus == 0 {
		cpus = runtime.NumCPU()
	}
	sharing := 0
	for _, w := range s.workers {
		if w.shares {
			sharing++
		}
	}
	if sharing <= cpus {
		return 0
	}
	return cpus
}

// lives gives what each thread does until its workers have ended: that of a
// single worker, or of a group.
func (s *slice) lives() (lives []func(), err error) {
	groups := make([]*group, s.groupCount())
	defer func() {
		if err != nil {
			for _, g := range groups {
				g.close()
			}
		}
	}()
	for i := range groups {
		groups[i] = &group{epoll: -1}
		if groups[i].epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
			return nil, fmt.Errorf("wait for many connections: %w", err)
		}
		lives = append(lives, groups[i].live)
	}
	shared := 0
	for _, w := range s.workers {
		if len(groups) == 0 || !w.shares {
			lives = append(lives, w.live)
			continue
		}
		if err := groups[shared%len(groups)].add(w); err != nil {
			return nil, fmt.Errorf("wait for many connections: %w", err)
		}
		shared++
	}
	for _, w := range s.background {
		lives = append(lives, w.liveBackground)
	}
	return lives, nil
}

// add makes a worker part of the group before it lives.
func (g *group) add(w *worker) error {
	conn := w.conn.(wire.Waiter)
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(g.workers))}
	if err := unix.EpollCtl(g.epoll, unix.EPOLL_CTL_ADD, conn.FD(), &event); err != nil {
		return err
	}
	next, forget := iter.Pull(func(yield func(struct{}) bool) {
		conn.SetWait(func() { yield(struct{}{}) })
		defer conn.SetWait(nil)
		w.live()
	})
	g.workers, g.resume, g.forget = append(g.workers, w), append(g.resume, next), append(g.forget, forget)
	return nil
}

// live starts each worker and goes on with those whose answers have come, until
// all have ended.
func (g *group) live() {
	defer g.close()
	alive := len(g.workers)
	for i := range g.workers {
		alive -= g.step(i)
	}
	events := make([]unix.EpollEvent, len(g.workers))
	passed := time.Now()
	for alive > 0 {
		for _, event := range events[:g.wait(events)] {
			alive -= g.step(int(event.Fd))
		}
		if now := time.Now(); now.Sub(passed) > stream.YieldEvery {
			passed = now
			runtime.Gosched()
		}
	}
}

// step goes on with a worker until it waits, and gives 0, or until its end, and gives 1.
func (g *group) step(i int) (ended int) {
	fd := g.workers[i].conn.(wire.Waiter).FD()
	if _, waits := g.resume[i](); waits {
		return 0
	}
	// What a closed connection says is no news. A descriptor that is gone is out already.
	_ = unix.EpollCtl(g.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	return 1
}

// wait gives the number of workers that can go on. It blocks in a call that its
// thread makes itself and that the scheduler knows of.
func (g *group) wait(events []unix.EpollEvent) int {
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(g.epoll),
			uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), ^uintptr(0), 0, 0)
		if errno == 0 {
			return int(n)
		}
		if !errors.Is(errno, syscall.EINTR) {
			panic(fmt.Errorf("epoll_pwait: %w", errno)) // the descriptor and the memory are ours
		}
	}
}

func (g *group) close() {
	if g == nil {
		return
	}
	for _, forget := range g.forget {
		forget()
	}
	if g.epoll >= 0 {
		_ = unix.Close(g.epoll)
	}
}
