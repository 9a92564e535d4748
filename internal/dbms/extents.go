package dbms

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stretch is a part of a file that is no hole. Unwritten is space that was
// allocated ahead, as redo logs are: it reads as zeros and costs no copying, but
// has to be allocated in the copy too, or the first writes would be slower there.
type stretch struct {
	start, end int64
	unwritten  bool
}

// stretchesOf lists what is in a file, by FIEMAP or, on a filesystem without
// it, by seeking data.
//
// Note: SEEK_DATA alone takes allocated space for data as soon as somebody has
// read it, and so half a gigabyte of empty redo log was copied.
func stretchesOf(file *os.File, size int64) ([]stretch, error) {
	found, err := fiemap(file, size)
	if err == nil {
		return found, nil
	}
	for at := int64(0); at < size; {
		start, end, err := nextData(file, at, size)
		if err != nil {
			return nil, err
		}
		if start < end {
			found = append(found, stretch{start: start, end: end})
		}
		at = end
	}
	return found, nil
}

// nextData finds the next stretch of data at or after a position; start is the
// size if only a hole is left.
func nextData(file *os.File, at, size int64) (start, end int64, err error) {
	start, err = unix.Seek(int(file.Fd()), at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size, nil
	}
	if errors.Is(err, unix.EINVAL) {
		return at, size, nil // a filesystem that knows no holes
	}
	if err != nil {
		return 0, 0, fmt.Errorf("find data in %s: %w", file.Name(), err)
	}
	end, err = unix.Seek(int(file.Fd()), start, unix.SEEK_HOLE)
	if err != nil {
		return 0, 0, fmt.Errorf("find a hole in %s: %w", file.Name(), err)
	}
	return start, min(end, size), nil
}

// The layout of struct fiemap and of FS_IOC_FIEMAP is that of linux/fiemap.h.
const (
	fiemapRequest   = 0xC020660B
	fiemapSync      = 0x1 // write dirty pages first, so that the map is true
	fiemapLast      = 0x1
	fiemapUnwritten = 0x800
	fiemapExtents   = 256
)

type fiemapExtent struct {
	logical, physical, length uint64
	_                         [2]uint64
	flags                     uint32
	_                         [3]uint32
}

type fiemapQuery struct {
	start, length                  uint64
	flags, mapped, count, reserved uint32
	extents                        [fiemapExtents]fiemapExtent
}

func fiemap(file *os.File, size int64) ([]stretch, error) {
	var found []stretch
	query := new(fiemapQuery)
	for at := uint64(0); at < uint64(size); {
		query.start, query.length, query.flags, query.mapped, query.count = at, uint64(size)-at, fiemapSync, 0, fiemapExtents
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), fiemapRequest, uintptr(unsafe.Pointer(query))); errno != 0 {
			return nil, errno
		}
		if query.mapped == 0 {
			break
		}
		for _, extent := range query.extents[:query.mapped] {
			start, end := max(at, extent.logical), min(extent.logical+extent.length, uint64(size))
			if start < end {
				found = append(found, stretch{int64(start), int64(end), extent.flags&fiemapUnwritten != 0})
			}
			at = extent.logical + extent.length
			if extent.flags&fiemapLast != 0 {
				return found, nil
			}
		}
	}
	return found, nil
}
