//go:build unix

package racetest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// scripts/unraced finds a test by its first line. One that it did not find would run nowhere.
func TestEverySkippedTestIsFound(t *testing.T) {
	environtest.Need(t, "bash")
	const repository = "../../.."
	cmd := exec.Command("scripts/unraced")
	cmd.Dir = repository
	found, err := cmd.Output()
	checktest.OK(t, err)
	names, packages, _ := strings.Cut(string(found), "\n")

	skipped := 0
	for _, root := range []string{"cmd", "internal", "packaging", "test"} {
		checktest.OK(t, filepath.WalkDir(filepath.Join(repository, root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || filepath.Base(filepath.Dir(path)) == "racetest" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte("racetest.")) {
				return err
			}
			skipped += bytes.Count(text, []byte("racetest.Skip("))
			dir, err := filepath.Rel(repository, filepath.Dir(path))
			if !strings.Contains("\n"+packages, "\n./"+filepath.ToSlash(dir)+"\n") {
				t.Errorf("%s is not tested without the race detector", dir)
			}
			return err
		}))
	}
	if got := strings.Count(names, "|") + 1; got != skipped {
		t.Errorf("%d tests are skipped, %d are found: %s", skipped, got, names)
	}
}
