// Package checktest ends a test whose surroundings fail: an error, a file that cannot be read or
// written, something that never becomes true. Packages give its functions short names of their own.
package checktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for other processes. A machine that is busy takes long; only a
// test that fails waits for all of it.
const patience = 3 * time.Minute

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits until something is true.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Succeeds waits until something is done without an error.
func Succeeds(t testing.TB, what string, try func() error) {
	t.Helper()
	err := try()
	for end := time.Now().Add(patience); err != nil; err = try() {
		if time.Now().After(end) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Exists reports whether a path leads to a file, a directory or a link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Read is the text of a file.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	OK(t, err)
	return string(text)
}

// Write writes a file, and makes its directory.
func Write(t testing.TB, path, text string) {
	t.Helper()
	OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	OK(t, os.WriteFile(path, []byte(text), 0o600))
}

// InOrder wants the parts in a text, one after the other.
func InOrder(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%q is not in it, or not in this order:\n%s", part, text)
			return
		}
		rest = after
	}
}
