//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// Used is how much of the disk a file takes: of a small one that is more than its size.
func Used(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(stat.Blocks) * 512
	}
	return info.Size()
}
