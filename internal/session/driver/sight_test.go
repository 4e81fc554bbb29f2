package driver

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/session/queue"
)

// What is done about a queue, by what was seen of its client for how long.
func TestDue(t *testing.T) {
	const (
		minute = time.Minute
		second = time.Second
	)
	f := func(s standing) finding { return finding{standing: s, why: "what is in the way"} }
	for _, tt := range []struct {
		name    string
		state   queue.DeliveryState // "" where no command is active
		driver  bool                // a process types
		finds   finding
		after   time.Duration
		want    remedy
		because string
	}{
		{"free at the first look", queue.Waiting, false, f(free), 0, nothing, ""},
		{"free", queue.Waiting, false, f(free), 5 * second, typeIt, ""},
		{"free, and a process types", queue.Waiting, true, f(free), 5 * second, nothing, ""},
		{"free, and nobody can type", queue.Waiting, false, f(free), 9 * minute, giveUp, "it could not be typed for 9 minutes"},
		{"text in the box", queue.Waiting, false, f(occupied), 8 * minute, nothing, ""},
		{"text in the box for long", queue.Waiting, false, f(occupied), 9 * minute, giveUp, "what is in the way"},
		{"nothing to be seen of it", queue.Waiting, false, f(hidden), 8 * minute, nothing, ""},
		{"nothing to be seen of it for long", queue.Waiting, false, f(hidden), 9 * minute, giveUp, "what is in the way"},
		{"it works", queue.Waiting, false, f(working), 24 * time.Hour, nothing, ""},

		{"killed while typing", queue.Typing, false, f(working), 5 * second, typeIt, ""},
		{"killed after Enter", queue.Entered, false, f(free), 5 * second, typeIt, ""},
		{"typing", queue.Typing, true, f(occupied), 5 * second, nothing, ""},
		{"typing without end", queue.Typing, true, f(working), 9 * minute, giveUp, "it could not be typed for 9 minutes"},

		{"a command under way", queue.Confirmed, false, f(working), 24 * time.Hour, nothing, ""},
		{"a moment between hooks", queue.Confirmed, false, f(free), 30 * second, nothing, ""},
		{"interrupted", queue.Confirmed, false, f(free), 40 * second, giveUp, "it was interrupted"},
		{"interrupted before any answer", queue.Confirmed, false, f(occupied), 40 * second, giveUp, "it was interrupted"},
		{"a dialog that no hook told of", queue.Confirmed, false, f(hidden), 8 * minute, nothing, ""},
		{"a dialog that no hook told of, for long", queue.Confirmed, false, f(hidden), 9 * minute, giveUp, "its input box was not visible for 9 minutes"},
		{"a person who reads while it works", queue.Confirmed, false, finding{standing: hidden, moved: true}, time.Hour, nothing, ""},

		{"no command is active", "", false, f(free), 8 * minute, nothing, ""},
		{"no command is active for long", "", false, f(free), 9 * minute, giveUp, "no hook released its next command"},
		{"no command is active, and it works", "", false, f(working), time.Hour, nothing, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := position{queue: "q", command: 1, state: tt.state}
			if tt.state == "" {
				at.command = 0
			}
			start := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
			s := &sight{position: at, began: start}
			for passed := time.Duration(0); passed <= tt.after; passed += max(second, tt.after) {
				s.note(tt.finds, !tt.driver, start.Add(passed))
			}
			do, why := s.due(measured, start.Add(tt.after))
			if do != tt.want || !strings.Contains(why, tt.because) || (why == "") != (do != giveUp) {
				t.Errorf("got %d: %q; want %d: %q", do, why, tt.want, tt.because)
			}
		})
	}
}

// What is seen again after something else counts from then on.
func TestDueCountsFromTheLastChange(t *testing.T) {
	at := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	s := &sight{position: position{command: 1, state: queue.Confirmed}, began: at}
	for _, f := range []standing{free, working, free} {
		s.note(finding{standing: f}, true, at)
		at = at.Add(measured.Dropped - time.Second)
	}
	if do, why := s.due(measured, at); do != nothing {
		t.Errorf("given up: %s", why)
	}
	if do, _ := s.due(measured, at.Add(time.Second)); do != giveUp {
		t.Error("not given up")
	}
}

// A process that types has its time before another one is started.
func TestDueLeavesATypistItsTime(t *testing.T) {
	at := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	s := &sight{position: position{command: 1, state: queue.Waiting}, began: at, driven: at}
	s.note(finding{standing: free}, true, at)
	if do, _ := s.due(measured, at.Add(again-1)); do != nothing {
		t.Error("typed too early")
	}
	if do, _ := s.due(measured, at.Add(again)); do != typeIt {
		t.Error("not typed")
	}
}
