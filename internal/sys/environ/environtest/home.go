package environtest

import (
	"os"
	"runtime"
	"testing"
)

// SetHome gives a test a home directory.
func SetHome(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("HOME", dir)
	if runtime.GOOS == "windows" {
		t.Setenv("USERPROFILE", dir)
	}
}

// MoveHome is SetHome for all tests of a package.
func MoveHome(dir string) {
	set(os.Setenv("HOME", dir))
	if runtime.GOOS == "windows" {
		set(os.Setenv("USERPROFILE", dir))
	}
}
