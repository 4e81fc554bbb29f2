//go:build unix

package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

// wait is what the file holds once it ends with a line "end".
func wait(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		if before, found := strings.CutSuffix(string(text), "end\n"); found {
			return before
		}
	}
	t.Fatalf("%s was never written to its end", path)
	return ""
}

func TestCommandGetsTheMessageAsOneArgument(t *testing.T) {
	// The command is the person's own line of shell, so these are all in use.
	const script = "f() { printf '%s|%s\\n' \"$#\" \"$1\"; echo end; }; "
	tests := []struct{ name, command, message, want string }{
		{"plain", script + "f", "hello", "1|hello\n"},
		{"of several words", script + "f", "a  b\nc", "1|a  b\nc\n"},
		{"hostile", script + "f", "$(touch x); `y` '\" \\", "1|$(touch x); `y` '\" \\\n"},
		{"option", script + "f", "-n", "1|-n\n"},
		{"NUL", script + "f", "a\x00b", "1|ab\n"},
		{"empty", script + "f", "", "1|\n"},
		{"a YAML block ends with a newline", script + "f\n", "echo injected", "1|echo injected\n"},
		{"white space around", "  \n" + script + "f \t\n\n", "m", "1|m\n"},
		{"its environment", script + `f "$GIVEN$OURS"`, "m", "2|given\n"},
	}
	t.Setenv("OURS", "not for it")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			check(t, Command(tt.command, tt.message, state, []string{"PATH=" + os.Getenv("PATH"), "GIVEN=given"}))
			if got := wait(t, filepath.Join(state, "logs", "notify.log")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCommandIsNotWaitedFor(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	gate := filepath.Join(dir, "gate")
	// Waiting for it here would never end: the gate is opened afterwards.
	check(t, Command("while ! test -e '"+gate+"'; do sleep 0.02; done; echo end; true", "m", state, os.Environ()))
	check(t, os.WriteFile(gate, nil, 0o600))
	wait(t, filepath.Join(state, "logs", "notify.log"))
}

func TestLogIsStartedAnewWhenLarge(t *testing.T) {
	state := t.TempDir()
	log := filepath.Join(state, "logs", "notify.log")
	check(t, os.Mkdir(filepath.Dir(log), 0o700))
	for size, want := range map[int]bool{100: true, 1<<20 + 1: false} {
		check(t, os.WriteFile(log, []byte(strings.Repeat("x", size)), 0o600))
		check(t, Command("echo end; true", "m", state, os.Environ()))
		if kept := strings.Contains(wait(t, log), "x"); kept != want {
			t.Errorf("%d bytes: kept %t", size, kept)
		}
	}
	info, err := os.Stat(log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want mode 600", info, err)
	}
}

func TestNoPlaceForTheLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if err := Command("true", "m", file, nil); err == nil {
		t.Error("want an error")
	}
}
