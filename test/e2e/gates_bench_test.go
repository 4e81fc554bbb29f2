//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// verifying is what init writes under stop_hook: every stop is looked at, and a
// fix is verified.
const verifying = "stop_hook:\n  run_interval_minutes: 0\n  verify_fixes: true\n"

// Gates makes stopgate hold the project to the gates of this configuration. All
// of it is committed: what an agent changes later is its own.
func (b *bench) Gates(config string) {
	b.t.Helper()
	b.Guard(config)
	b.Commit()
}

// working is a step that changes something: a turn that changes nothing is not judged.
var working = bash("echo more >> work.txt")

// Commit commits whatever is in the project.
func (b *bench) Commit() {
	b.t.Helper()
	b.Exec("git", "add", "-A").mustPass(b.t)
	b.Exec("git", "commit", "-q", "-m", "all: go on").mustPass(b.t)
}

// oneCheck is a configuration with one check, and what else it needs at its top
// level.
func oneCheck(command string, more ...string) string {
	return fmt.Sprintf("entry_points:\n  - path: .\n    checks:\n      - name: build\n        command: %q\n", command) + strings.Join(more, "")
}

// runs is a file outside the project in which a gate leaves a line for each of
// its runs.
type runs struct{ path string }

func (b *bench) runs() runs { return runs{filepath.Join(b.Tmp, "runs")} }

// counted is a command that leaves its line and goes on.
func (r runs) counted(command string) string { return "echo ran >>" + r.path + "; " + command }

func (r runs) want(t testing.TB, want int) {
	t.Helper()
	text, _ := os.ReadFile(r.path)
	if got := strings.Count(string(text), "\n"); got != want {
		t.Errorf("the gate ran %d times, want %d", got, want)
	}
}

// feedback is what the agent was sent back with, each block once.
func (b *bench) feedback() []string {
	var all []string
	for _, r := range b.API.Requests() {
		if text, found := strings.CutPrefix(r.LastUserText(), "Stop hook feedback:\n"); found {
			all = append(all, text)
		}
	}
	return slices.Compact(all)
}

// wantFeedback ends the test unless the agent was sent back once for each of
// these, in our words or the older tool's.
func (b *bench) wantFeedback(holds ...string) {
	b.t.Helper()
	got := b.feedback()
	if len(got) != len(holds) {
		b.t.Fatalf("the agent was sent back %d times, want %d: %q", len(got), len(holds), got)
	}
	for i, text := range got {
		ours := strings.HasPrefix(text, "stopgate: ") || strings.HasPrefix(text, "**GAUNTLET FAILED")
		if !ours || !strings.Contains(text, holds[i]) {
			b.t.Errorf("block %d says %q, want failed gates with %q", i+1, text, holds[i])
		}
	}
}

// wantTold wants the client to show the person a text about a stop.
func (h *headless) wantTold(text string) {
	h.t.Helper()
	told := func(r hookRun) bool {
		_, message, found := strings.Cut(r.Stdout, `"systemMessage":`)
		return found && strings.Contains(message, text)
	}
	if runs := h.Hooks("Stop"); !slices.ContainsFunc(runs, told) {
		h.t.Errorf("the person was not told %q: %+v", text, runs)
	}
}

// waitPIDs waits for a gate to write this many process ids, on one line, into a
// file.
func waitPIDs(t testing.TB, path string, want int) (pids []int) {
	t.Helper()
	whole := poll(patience, func() bool {
		text, _ := os.ReadFile(path)
		if !strings.HasSuffix(string(text), "\n") {
			return false
		}
		pids = nil
		for _, field := range strings.Fields(string(text)) {
			pid := 0
			if _, err := fmt.Sscan(field, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) == want
	})
	if !whole {
		t.Fatalf("%s does not hold %d process ids", path, want)
	}
	return pids
}

// wantGone wants a process to end soon.
func wantGone(t testing.TB, what string, pid int) {
	t.Helper()
	if !poll(patience, func() bool { return !running(pid) }) {
		t.Errorf("%s still runs", what)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// running reports whether a process runs. One that is dead and that nobody has
// waited for still takes signals, so /proc is asked where there is one.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}
