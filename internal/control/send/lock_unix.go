//go:build unix

package send

import (
	"os"
	"os/exec"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// inherit lets a program hold the lock, which belongs to the open file and ends with the last
// process that has it.
func inherit(cmd *exec.Cmd, lock *os.File) { cmd.ExtraFiles = []*os.File{lock} }

func tryLock(f *os.File) bool {
	taken, _ := lockfile.Try(f, true) // where it cannot be told, it is not free
	return taken
}
