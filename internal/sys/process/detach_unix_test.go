//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// earlierEnv makes the test binary a process that detaches a command which waits for
// its end.
const earlierEnv = "STOPGATE_PROCESS_EARLIER"

// endAfterStarting ends when the command runs, and leaves a mark before that. Garbage
// collections in between must not end the command's input.
func endAfterStarting(script string) error {
	if err := DetachAfter(Shell(script), os.Environ(), nil); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		runtime.GC()
		if _, err := os.Stat("started"); err == nil {
			break
		}
	}
	for range 3 {
		runtime.GC()
	}
	return os.WriteFile("ending", nil, 0o600)
}

func TestDetachAfterWaitsForOurEnd(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	dir := t.TempDir()
	parent := exec.Command(self)
	parent.Dir = dir
	parent.Env = append(os.Environ(), earlierEnv+`=touch started; cat >text; test -e ending && touch after || touch before`)
	if out, err := parent.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("parent: %v, %q", err, out)
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	eventually(t, "the command goes on", func() bool { return exists("after") || exists("before") })
	if exists("before") {
		t.Error("its input ended before its parent did")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || len(text) > 0 {
		t.Errorf("its input is %q, %v", text, err)
	}
}
