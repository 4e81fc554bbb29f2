package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/atomicfiletest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() { children["write refused"] = childWriteRefused }

// The steps are true: where the kernel refuses to sync, nothing is said to be durable, and the
// old content stays.
func TestSyncsThatTheKernelRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte("old"), 0o600))
	out, err := processtest.Child(t, "write refused", path).Output()
	check(t, err)
	if len(out) > 0 {
		environtest.Missing(t, "way to have the kernel refuse a system call", errors.New(string(out)))
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

// childWriteRefused tries to sync in every way.
func childWriteRefused(args []string) error {
	path := args[0]
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := atomicfiletest.Refuse(unix.SYS_FSYNC, unix.SYS_FDATASYNC); err != nil {
		fmt.Println(err)
		return nil
	}
	for what, err := range map[string]error{
		"Write":   Write(path, []byte("new"), 0o600),
		"Sync":    Sync(file),
		"SyncDir": SyncDir(filepath.Dir(path)),
	} {
		if !errors.Is(err, unix.EIO) {
			return fmt.Errorf("%s: error %w, want EIO", what, err)
		}
	}
	return nil
}
