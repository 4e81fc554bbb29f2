//go:build unix

package daemonapi

import (
	"fmt"
	"os"
	"syscall"
)

// ours refuses a socket of another user, who would learn what is asked and could answer
// anything. One that is not there is for others to find.
func ours(socket string) error {
	info, err := os.Lstat(socket)
	if err != nil {
		return nil
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s, user %d", ErrForeign, socket, stat.Uid)
	}
	return nil
}
