//go:build unix

package check

import (
	"bytes"
	"context"
	"fmt"
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

func request(t *testing.T, command string) (Request, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return Request{
		Name: "lint", Command: command, Dir: t.TempDir(), Env: os.Environ(), Timeout: time.Minute, Log: log,
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC) },
	}, log
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name, command string
		passed, ran   bool
		message       string
	}{
		{"passes", "exit 0", true, true, "Exited with code 0"},
		{"fails", "exit 3", false, true, "Exited with code 3"},
		{"what it waits for is killed", "sh -c 'kill -TERM $$'; exit $?", false, true, "Exited with code 143"},
		{"a large code is no signal", "exit 255", false, true, "Exited with code 255"},
		{"a signal is no exit code", "kill -TERM $$", false, true, "was ended by signal 15 (terminated)"},
		{"a program that is not there", "no-such-program", false, false, "a program that `no-such-program` needs was not found (exit 127)"},
		{"a file that is no program", "./file", false, false, "a program that `./file` needs cannot be executed (exit 126)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := request(t, tt.command)
			if err := os.WriteFile(filepath.Join(r.Dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			got := Run(t.Context(), r)
			if got.Passed != tt.passed || got.Ran != tt.ran || got.Message != tt.message {
				t.Errorf("got %+v", got)
			}
			if want := strings.Contains(tt.command, "kill"); got.Killed != want {
				t.Errorf("killed: %t", got.Killed)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	r, _ := request(t, "sleep 600")
	r.Timeout = 20 * time.Millisecond
	if got := Run(t.Context(), r); got.Passed || !got.Ran || got.Message != "Timed out after 0.02s" {
		t.Errorf("got %+v", got)
	}
}

func TestTheRunsEndIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r, _ := request(t, "sleep 600")
	if got := Run(ctx, r); got.Ran || !strings.Contains(got.Message, "whole run") {
		t.Errorf("got %+v", got)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if got := Run(ctx, r); got.Ran || got.Message != "was interrupted" {
		t.Errorf("got %+v", got)
	}
}

func TestMissingDirectory(t *testing.T) {
	r, _ := request(t, "exit 0")
	r.Dir = filepath.Join(r.Dir, "gone")
	if got := Run(t.Context(), r); got.Ran || !strings.Contains(got.Message, "gone does not exist") {
		t.Errorf("got %+v", got)
	}
}

func TestLog(t *testing.T) {
	r, log := request(t, "echo out; printf err >&2; exit 2")
	r.FixInstructions = "turn it off and on"
	got := Run(t.Context(), r)
	const stamp = "[2026-01-02T03:04:05.006Z] "
	want := stamp + "Starting check: lint\n" +
		stamp + "Executing command: echo out; printf err >&2; exit 2\n" +
		stamp + "Working directory: " + r.Dir + "\n" +
		"out\nerr\n" +
		stamp + "Command failed: Exited with code 2\n" +
		stamp + "Result: fail - Exited with code 2\n" +
		stamp + "--- Fix Instructions ---\nturn it off and on\n"
	if text := log.String(); text != want {
		t.Errorf("the log is\n%s", text)
	}
	if got.Tail != "out\nerr" {
		t.Errorf("the tail is %q", got.Tail)
	}
}

// What a command prints stays in the order in which it printed it, on whichever stream.
func TestBothStreamsStayInOrder(t *testing.T) {
	var log strings.Builder
	command := `i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done`
	Run(t.Context(), Request{Name: "n", Command: command, Dir: t.TempDir(), Log: &log, Now: time.Now})
	var want strings.Builder
	for i := range 300 {
		fmt.Fprintf(&want, "out %d\nerr %[1]d\n", i)
	}
	if !strings.Contains(log.String(), want.String()) {
		t.Errorf("the lines are out of order:\n%s", log.String())
	}
}

// A command that prints without end fills neither memory nor the disk.
func TestLogIsBounded(t *testing.T) {
	var n counter
	l := NewLog(&n)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range maxLog>>20 + 10 {
		if _, err := l.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	l.endLine()
	if n < maxLog || n > maxLog+200 {
		t.Errorf("%d bytes were written", n)
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestAFullDiskChangesNoVerdict(t *testing.T) {
	r, _ := request(t, "echo x; exit 0")
	r.Log = full{}
	if got := Run(t.Context(), r); !got.Passed || got.Tail != "x" {
		t.Errorf("got %+v", got)
	}
}
