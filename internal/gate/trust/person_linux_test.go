package trust

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// stdin makes the file standard input for the test.
func stdin(t *testing.T, file *os.File) {
	t.Helper()
	old := os.Stdin
	os.Stdin = file
	t.Cleanup(func() { os.Stdin = old; file.Close() })
}

func terminal(t *testing.T) *os.File {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		environtest.Missing(t, "terminal", err)
	}
	t.Cleanup(func() { control.Close() })
	check(t, unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	check(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		environtest.Missing(t, "terminal", err)
	}
	return tty
}

func TestRulingT5OnlyAPersonApproves(t *testing.T) {
	tests := []struct {
		name       string
		claudecode string
		tty, yes   bool
		refusal    string // part of it; empty: not refused
	}{
		{"a person at a terminal", "", true, false, ""},
		{"a script outside the client", "", false, true, ""},
		{"no terminal", "", false, false, "--yes"},
		{"inside the client", "1", false, false, "an agent cannot approve"},
		{"inside the client with a terminal", "1", true, false, "an agent cannot approve"},
		{"inside the client with --yes", "1", false, true, "an agent cannot approve"},
		{"inside the client with both", "1", true, true, "an agent cannot approve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CLAUDECODE", tt.claudecode)
			if tt.tty {
				stdin(t, terminal(t))
			} else {
				null, err := os.Open(os.DevNull)
				check(t, err)
				stdin(t, null)
			}
			err := RequirePerson("approve", tt.yes)
			if tt.refusal == "" {
				check(t, err)
			} else if err == nil || !strings.Contains(err.Error(), tt.refusal) {
				t.Errorf("got %v, want %q", err, tt.refusal)
			}
		})
	}
}
