//go:build unix

package hook

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The client's end is a pipe, which Read waits for in the kernel.
func TestReadFromAPipe(t *testing.T) {
	for name, tt := range map[string]struct {
		sent  string
		close bool
		want  string // of the error
	}{
		"whole":               {valid, true, ""},
		"large":               {`{"x":"` + strings.Repeat("y", 1<<20) + `"}`, true, ""},
		"empty":               {"", true, ""},
		"too large":           {strings.Repeat(" ", MaxPayload+1), true, "larger than 8 MiB"},
		"left open":           {valid + "\n", false, ""},
		"left open, nothing":  {"", false, "still open"},
		"left open, half":     {valid[:20], false, "still open"},
		"left open, too much": {strings.Repeat(" ", MaxPayload+1), false, "larger than 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			check(t, err)
			defer r.Close()
			write := func() { _, _ = w.WriteString(tt.sent) } // fails when the reader has had enough
			patience := time.Minute
			switch {
			case tt.close:
				go func() {
					write()
					w.Close()
				}()
			case len(tt.sent) > MaxPayload:
				defer w.Close()
				go write()
			default: // the pipe has room for it
				defer w.Close()
				write()
				patience = 300 * time.Millisecond
			}
			got, err := Read(r, patience)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || string(got) != tt.sent {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

func TestReadFromAClosedFile(t *testing.T) {
	r, w, err := os.Pipe()
	check(t, err)
	w.Close()
	r.Close()
	if _, err := Read(r, time.Second); err == nil {
		t.Error("no error")
	}
}
