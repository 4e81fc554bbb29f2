//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/atomicfile/internal/step"
)

// What is synced when is told to tests of other packages, which rely on it.
func TestOrderOfSteps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var steps []string
	var from string
	step.Observe(func(s step.Step) {
		if s.Kind == step.Renamed {
			from = s.From
		}
		steps = append(steps, string(s.Kind)+" "+s.Path)
	})
	defer step.Observe(nil)
	for _, existing := range []bool{false, true} {
		steps = nil
		check(t, Write(path, []byte("x"), 0o600))
		want := []string{"synced " + from, "renamed " + path, "synced the directory " + dir}
		if got := strings.Join(steps, ", "); got != strings.Join(want, ", ") {
			t.Errorf("existing %t: %s, want %s", existing, got, strings.Join(want, ", "))
		}
	}
	steps = nil
	check(t, Exchange(path, []byte("y"), 0o600))
	if want := "synced " + from + ", renamed " + path; strings.Join(steps, ", ") != want {
		t.Errorf("exchanged: %q, want %s", steps, want)
	}
	steps = nil
	check(t, Replace(path, nil, 0o600))
	if len(steps) != 1 {
		t.Errorf("what is not durable costs %q", steps)
	}
	steps = nil
	file, err := os.Create(path)
	check(t, err)
	defer file.Close()
	if err := Sync(file); err != nil || len(steps) != 1 || steps[0] != "synced "+path {
		t.Errorf("%v: %q", err, steps)
	}
}
