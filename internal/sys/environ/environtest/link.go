package environtest

import (
	"io/fs"
	"os"
	"testing"
)

// Symlink makes a symbolic link. Not every user of Windows may do that, and Wine 8 does nothing and
// succeeds: there the test is skipped.
func Symlink(t testing.TB, target, path string) {
	t.Helper()
	err := os.Symlink(target, path)
	if info, _ := os.Lstat(path); err == nil && (info == nil || info.Mode().Type() != fs.ModeSymlink) {
		t.Skip("this system makes no symbolic links")
	}
	if err != nil {
		Missing(t, "symbolic link", err)
	}
}
