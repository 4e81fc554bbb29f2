package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// logOf makes a log that is kept.
func logOf(t *testing.T, state, text string) string {
	t.Helper()
	path := filepath.Join(Dir(state), "project", "20260304T120000.000Z-check.log")
	ok(t, os.MkdirAll(filepath.Dir(path), 0o700))
	ok(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestIssue18TailIsShortAndHarmless(t *testing.T) {
	state := t.TempDir()
	for text, want := range map[string]string{
		"":                                   "",
		"one\n":                              "one",
		"one\ntwo\n\tthree\n\n\n":            "two|\tthree",
		"10 %\r50 %\r100 %\nend":             "100 %|end",
		"\x1b[2Jred\x07\nb\u202e":            "red|b",
		strings.Repeat("x", 9<<20) + "\nend": strings.Repeat("x", 500) + "…|end",
	} {
		got, err := Tail(state, logOf(t, state, text), 2)
		if strings.Join(got, "|") != want || err != nil {
			t.Errorf("%.40q: %.80q %v", text, got, err)
		}
	}
}

// A path in the journal leads nowhere but to the logs that are kept, and to nothing that is not a file.
func TestIssue18TailReadsKeptLogsOnly(t *testing.T) {
	state := t.TempDir()
	log := logOf(t, state, "fine")
	secret := filepath.Join(t.TempDir(), "secret.log")
	ok(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for _, path := range []string{
		secret, "", "/", "relative.log", Dir(state), filepath.Dir(log), Dir(state) + "/project/../../../x.log", Dir(state) + "/../gates/a/b/c.log",
		filepath.Join(state, "journal", "00000001.log"), filepath.Join(Dir(state), "x.log"), filepath.Join(filepath.Dir(Dir(state)), "x.log"), FindingsOf(log), log + "\x00",
	} {
		if lines, err := Tail(state, path, 5); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %q %v", path, lines, err)
		}
		if found, err := Findings(state, path); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %v %v", path, found, err)
		}
	}

	link := filepath.Join(filepath.Dir(log), "link.log")
	if os.Symlink(secret, link) == nil {
		if lines, err := Tail(state, link, 5); err == nil {
			t.Errorf("through a link: %q", lines)
		}
	}
	ok(t, os.Mkdir(filepath.Join(filepath.Dir(log), "folder.log"), 0o700))
	if _, err := Tail(state, filepath.Join(filepath.Dir(log), "folder.log"), 5); !errors.Is(err, regular.ErrNotRegular) {
		t.Error(err)
	}
	if _, err := Tail(state, filepath.Join(filepath.Dir(log), "gone.log"), 5); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(Trouble(err), "gone") {
		t.Error(err)
	}
}

func TestIssue18FindingsOfAReview(t *testing.T) {
	state := t.TempDir()
	log := logOf(t, state, "…")
	if found, err := Findings(state, log); found != nil || err != nil {
		t.Error(found, err)
	}
	want := review.File{Status: review.Fail, Violations: []review.Violation{{ID: "a", File: "src/a.go", Line: "3", Issue: "a secret", Priority: "high", Status: review.New}}}
	ok(t, os.WriteFile(FindingsOf(log), want.Encode(), 0o600))
	found, err := Findings(state, log)
	if err != nil || len(found) != 1 || found[0].Location() != "src/a.go:3" {
		t.Error(found, err)
	}
	ok(t, os.WriteFile(FindingsOf(log), make([]byte, maxFindings+1), 0o600))
	if _, err := Findings(state, log); !errors.Is(err, regular.ErrTooLarge) {
		t.Error(err)
	}
}
