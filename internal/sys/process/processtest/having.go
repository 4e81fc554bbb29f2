package processtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Having are the processes with this text in their environment, such as "HOME=/x\x00". Where the
// system has no /proc there are none.
func Having(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, _ := os.ReadFile(file) // it may have ended since
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && strings.Contains("\x00"+string(environ), text) {
			pids = append(pids, pid)
		}
	}
	return pids
}
