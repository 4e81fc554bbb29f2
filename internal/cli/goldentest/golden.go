// Package goldentest compares what people see with files of the repository.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Check compares text with a file in testdata/golden.
func Check(t *testing.T, name, text string) {
	t.Helper()
	CheckFile(t, filepath.Join("testdata", "golden", name), text)
}

// CheckFile compares text with the file at a path.
func CheckFile(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (go test -update writes it):\n%s", path, diff)
	}
}
