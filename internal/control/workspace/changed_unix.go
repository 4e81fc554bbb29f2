//go:build unix

package workspace

import (
	"time"

	"golang.org/x/sys/unix"
)

// changedAt is when a file was last changed, which no program can set; not known where the system does
// not tell.
func changedAt(path string) (at time.Time, known bool) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return time.Time{}, false
	}
	return time.Unix(stat.Ctim.Unix()), true
}
