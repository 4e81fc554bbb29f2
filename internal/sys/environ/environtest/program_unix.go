//go:build unix

package environtest

import (
	"os"
	"syscall"
	"testing"
)

// Program writes a script that a test starts. No process that another test starts meanwhile
// gets the file while it is open for writing: as long as one had it, the system would not
// run it ("text file busy").
func Program(t testing.TB, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
