//go:build unix

package footprint

import (
	"time"

	"golang.org/x/sys/unix"
)

// changedAt is when a file, its name or what is known of it was last changed, and the device that it is on; now and none
// where it cannot be looked at. A program can set the time of the content back, as cp -p does, but not this one.
func changedAt(path string) (at time.Time, on device) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return time.Now(), 0
	}
	return time.Unix(0, max(unix.TimespecToNsec(st.Ctim), unix.TimespecToNsec(st.Mtim))), device(st.Dev)
}

func deviceOf(path string) (on device, known bool) {
	var st unix.Stat_t
	err := unix.Stat(path, &st)
	return device(st.Dev), err == nil && st.Dev != 0
}
