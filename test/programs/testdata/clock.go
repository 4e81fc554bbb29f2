package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// ahead is what is added to every Now: the seconds in the file that TEST_CLOCK names, which may change
// at any moment.
var ahead = openClock()

func openClock() *int64 {
	path, named := syscall.Getenv("TEST_CLOCK")
	if !named {
		return new(int64)
	}
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return new(int64)
	}
	page, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	_ = syscall.Close(file)
	if err != nil {
		return new(int64)
	}
	return (*int64)(unsafe.Pointer(&page[0]))
}

func jumped() int64 { return atomic.LoadInt64(ahead) }
