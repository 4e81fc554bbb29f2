package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
)

func init() { refused = writeRefused }

// The steps are true: where the kernel refuses to sync, nothing is said to be durable, and the
// old content stays.
func TestSyncsThatTheKernelRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte("old"), 0o600))
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), refusedEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(t, err)
	if len(out) > 0 {
		t.Skipf("no system call can be refused here: %s", out)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

// writeRefused tries to sync in every way, in a process of its own.
func writeRefused(path string) {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	if err := atomicfiletest.Refuse(unix.SYS_FSYNC, unix.SYS_FDATASYNC); err != nil {
		fmt.Println(err)
		return
	}
	for what, err := range map[string]error{
		"Write":   Write(path, []byte("new"), 0o600),
		"Sync":    Sync(file),
		"SyncDir": SyncDir(filepath.Dir(path)),
	} {
		if !errors.Is(err, unix.EIO) {
			panic(fmt.Sprintf("%s: error %v, want EIO", what, err))
		}
	}
}
