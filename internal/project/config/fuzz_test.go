package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Whatever the file holds, there is an answer, soon, and always the same one;
// and every fault is in the file.
func FuzzParseProject(f *testing.F) {
	files, _ := filepath.Glob("testdata/faults/*/*.yml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		check(f, err)
		f.Add(data)
	}
	f.Add([]byte(designExample))
	f.Add([]byte(bomb()))
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		first, err := ParseProject("config.yml", data)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %v", took)
		}
		second, again := ParseProject("config.yml", data)
		if diff := cmp.Diff(first, second, drafts); diff != "" {
			t.Errorf("not the same twice:\n%s", diff)
		}
		if err == nil {
			if first == nil || again != nil {
				t.Fatalf("got %v, then %v", first, again)
			}
			return
		}
		if first != nil || again == nil || err.Error() != again.Error() {
			t.Fatalf("got %v and %v, then %v", first, err, again)
		}
		checkFaults(t, err.(*document.Faults), string(data))
	})
}

func checkFaults(t *testing.T, faults *document.Faults, text string) {
	t.Helper()
	if len(faults.All) == 0 {
		t.Fatal("an error without faults")
	}
	lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
	for _, fault := range faults.All {
		if fault.File != "config.yml" || fault.Message == "" || fault.Line > lines+1 || fault.Column < min(fault.Line, 1) {
			t.Errorf("%+v in %d lines", fault, lines)
		}
		if strings.ContainsAny(fault.Message+fault.Hint, "\n\t\x00\x1b") {
			t.Errorf("not fit to print: %q, %q", fault.Message, fault.Hint)
		}
	}
	if strings.Contains(faults.Detail(), "\x1b") {
		t.Errorf("not fit to print: %q", faults.Detail())
	}
}
