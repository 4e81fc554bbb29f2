package time

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// rig is what a test has decided for this process: how many seconds its clock is ahead, and how many nanoseconds a sync
// to disk takes longer. It is mapped from the file that TEST_RIG names, and may change at any moment.
var rig = openRig()

func openRig() *[2]int64 {
	path, named := syscall.Getenv("TEST_RIG")
	if !named {
		return new([2]int64)
	}
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return new([2]int64)
	}
	page, err := syscall.Mmap(file, 0, 16, syscall.PROT_READ, syscall.MAP_SHARED)
	_ = syscall.Close(file)
	if err != nil {
		return new([2]int64)
	}
	return (*[2]int64)(unsafe.Pointer(&page[0]))
}

func clockAhead() int64 { return atomic.LoadInt64(&rig[0]) }

// WaitForDisk is called before each sync of a file.
func WaitForDisk() { Sleep(Duration(atomic.LoadInt64(&rig[1]))) }
