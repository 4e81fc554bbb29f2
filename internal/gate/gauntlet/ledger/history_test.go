package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestE21HistoryIsOfACommand(t *testing.T) {
	const job = "check:.:lint"
	h := OpenHistory(t.TempDir(), t.TempDir())
	ended := func(command string) {
		t.Helper()
		check(t, h.Add(t.Context(), map[string]Finish{job: {At: time.Now(), In: time.Second, Command: command}}))
	}
	wants := func(when string, want map[string]bool) {
		t.Helper()
		for command, ran := range want {
			if _, got := h.Read().Of(job, command); got != ran {
				t.Errorf("%s: that %s ran is %t", when, command, got)
			}
		}
	}
	wants("before the first run", map[string]bool{"a": false})
	ended("a")
	wants("after a run", map[string]bool{"a": true, "b": false})
	ended("b")
	wants("after a run of another command", map[string]bool{"a": false, "b": true})
}

// An entry of an older stopgate counts for every command, so that nothing gets easier by an
// update, until the next run says which command it is.
func TestE21HistoryOfAnOlderStopgate(t *testing.T) {
	const job = "check:.:lint"
	h := OpenHistory(t.TempDir(), t.TempDir())
	check(t, os.MkdirAll(filepath.Dir(h.path), 0o700))
	check(t, os.WriteFile(h.path, []byte(`{"check:.:lint":{"at":"2026-01-02T03:04:05Z","in":1000000000}}`), 0o600))
	for _, command := range []string{"a", "b"} {
		if last, ran := h.Read().Of(job, command); !ran || last.In != time.Second {
			t.Errorf("%s: %+v, %t", command, last, ran)
		}
	}
	check(t, h.Add(t.Context(), map[string]Finish{job: {At: time.Now(), In: time.Second, Command: "a"}}))
	if _, ran := h.Read().Of(job, "b"); ran {
		t.Error("the entry still counts for every command")
	}
}

// How long a gate takes decides whether it may run once more. What is about the same is not written again.
func TestE11HistoryKeepsHowLongAGateTakes(t *testing.T) {
	const job = "check:.:lint"
	h := OpenHistory(t.TempDir(), t.TempDir())
	for _, step := range []struct{ in, known time.Duration }{
		{10 * time.Second, 10 * time.Second},
		{12 * time.Second, 10 * time.Second},
		{time.Second, time.Second},
		{2 * time.Second, time.Second},
		{time.Minute, time.Minute},
	} {
		check(t, h.Add(t.Context(), map[string]Finish{job: {At: time.Now(), In: step.in, Command: "a"}}))
		if last, _ := h.Read().Of(job, "a"); last.In != step.known {
			t.Errorf("after %s: %s", step.in, last.In)
		}
	}
}
