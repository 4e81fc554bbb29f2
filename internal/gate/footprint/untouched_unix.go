//go:build unix

package footprint

import (
	"time"

	"golang.org/x/sys/unix"
)

// changedAt is when a file, its name or what is known of it was last changed. A program can set the time of the content
// back, as cp -p does, but not this one.
func changedAt(path string) (at time.Time, known bool) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return time.Time{}, false
	}
	return time.Unix(0, max(unix.TimespecToNsec(st.Ctim), unix.TimespecToNsec(st.Mtim))), true
}

func sameDevice(a, b string) bool {
	var one, other unix.Stat_t
	return unix.Stat(a, &one) == nil && unix.Stat(b, &other) == nil && one.Dev == other.Dev
}
