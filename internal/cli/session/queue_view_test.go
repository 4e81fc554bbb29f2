package session

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
)

// noon is when people look at the queues of testQueues.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local) }

func at(ago time.Duration) *queue.Time { return &queue.Time{Time: noon().Add(-ago)} }

// testQueues are queues that stand in every way that people are shown.
func testQueues() map[string]queue.Queue {
	long := "write down " + strings.Repeat("everything ", 20) + "\nand\tthen \x1b[31mstop"
	result := "\x1b[1mDone.\x1b[0m\n\nFirst " + strings.Repeat("much ", 60) + "\n第二行\nthird\nfourth"
	make := func(age time.Duration, change func(q *queue.Queue)) queue.Queue {
		q := queue.New("", "id", []string{"/clear", long, "and bye"}, noon().Add(-age))
		if change != nil {
			change(&q)
		}
		return q
	}
	reached := func(q *queue.Queue, d queue.Delivery) {
		q.Commands[0].Status, q.Commands[0].CompletedAt = queue.Done, at(30*time.Second)
		q.Commands[1].Status, q.Commands[1].Stopgate = queue.Active, &d
	}
	ended := func(kind queue.EndKind, why string) func(q *queue.Queue) {
		return func(q *queue.Queue) {
			reached(q, queue.Delivery{State: queue.Confirmed, ConfirmedAt: at(20 * time.Second)})
			q.Stopgate.Ending = &queue.Ending{Kind: kind, Why: why}
		}
	}
	return map[string]queue.Queue{
		"fresh":   make(0, nil),
		"held":    make(70*time.Second, func(q *queue.Queue) { q.Commands[0].Stopgate.Why = "Claude Code is busy" }),
		"not-yet": make(3*time.Hour, func(q *queue.Queue) { d := q.Commands[0].Stopgate; d.Why, d.Tries = "a dialog is open", 1 }),
		"typing":  make(9*time.Second, func(q *queue.Queue) { reached(q, queue.Delivery{State: queue.Typing}) }),
		"entered": make(9*time.Second, func(q *queue.Queue) { reached(q, queue.Delivery{State: queue.Entered, Enters: 1}) }),
		"running": make(26*time.Hour, func(q *queue.Queue) {
			reached(q, queue.Delivery{State: queue.Confirmed, ConfirmedAt: at(25 * time.Hour)})
		}),
		"asking": make(time.Minute, func(q *queue.Queue) {
			reached(q, queue.Delivery{State: queue.Confirmed, ConfirmedAt: at(20 * time.Second)})
			q.Stopgate.Place = &queue.Place{Socket: "/s", PID: 7, Pane: "%1"}
		}),
		"gone": make(100*time.Hour, func(q *queue.Queue) {
			reached(q, queue.Delivery{State: queue.Confirmed, ConfirmedAt: at(20 * time.Second)})
			q.Stopgate.EndedAt = at(10 * time.Second)
		}),
		"by-hand": make(0, func(q *queue.Queue) { q.Stopgate, q.Commands[0].Stopgate = nil, nil }),
		"lingers": make(time.Minute, ended(queue.Cancel, "manual input")),
		"complete": make(time.Minute, func(q *queue.Queue) {
			for i := range q.Commands {
				q.Commands[i].Status, q.Commands[i].CompletedAt = queue.Done, at(time.Duration(30-i)*time.Second)
			}
			q.Commands[1].Result = &result
			q.Stopgate.Ending = &queue.Ending{Kind: queue.Complete}
		}),
		"cancelled": make(time.Minute, ended(queue.Cancel, "manual input")),
		"stale":     make(time.Minute, ended(queue.Stale, "")),
		"failed": make(time.Minute, func(q *queue.Queue) {
			ended(queue.Broken, "command 2 failed: no hook of Claude Code confirmed it")(q)
			q.Commands[1].Status, q.Commands[1].Stopgate.Why = queue.Failed, "no hook of Claude Code confirmed it"
		}),
	}
}

// testDesk knows a client that asks.
func testDesk(t *testing.T) *desk {
	t.Helper()
	state := t.TempDir()
	asking := presence.Instance{Session: "asking", Socket: "/s", PID: 7, Pane: "%1", State: presence.Asking}
	check(t, presence.NewBook(state).Store(asking))
	return &desk{stateDir: state, queues: queue.NewStore(state)}
}

func listed(t *testing.T, session string) queue.Listed {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.json")
	check(t, os.WriteFile(path, nil, 0o600))
	check(t, os.Chtimes(path, noon(), noon()))
	return queue.Listed{Session: session, Path: path, Queue: testQueues()[session]}
}

// testList is what list sees of them.
func testList(t *testing.T) *queueList {
	d, l := testDesk(t), &queueList{now: noon()}
	for _, session := range []string{"fresh", "held", "not-yet", "typing", "entered", "running", "asking", "gone", "by-hand", "lingers"} {
		l.queues = append(l.queues, d.view(listed(t, session), noon()))
	}
	damaged := queue.Listed{Session: "dam\x1bged", Path: "/q", Err: errors.New("invalid queue file: unexpected end of JSON input")}
	l.queues = append(l.queues, d.view(damaged, noon()))
	return l
}

// sizes are those of screens, and of a pipe.
func sizes() map[string][2]int {
	return map[string][2]int{"pipe": {math.MaxInt, math.MaxInt}, "80": {80, 24}, "140": {140, 24}, "40": {40, 8}}
}

func TestQueueList(t *testing.T) {
	list := testList(t)
	for name, size := range sizes() {
		t.Run(name, func(t *testing.T) {
			lines := list.Lines(false, size[0], size[1])
			checkFits(t, lines, size)
			goldentest.Check(t, filepath.Join("queue", "list-"+name+".txt"), strings.Join(lines, "\n")+"\n")
		})
	}
}

func TestQueueListColours(t *testing.T) {
	goldentest.Check(t, filepath.Join("queue", "list-colour.txt"), strings.Join(testList(t).Lines(true, 100, 24), "\n")+"\n")
}

func TestQueueListIsEmpty(t *testing.T) {
	for name, size := range sizes() {
		checkFits(t, (&queueList{}).Lines(false, size[0], size[1]), size)
		if text := (&queueList{}).Lines(false, size[0], size[1])[0]; text != "no queues" {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func checkFits(t *testing.T, lines []string, size [2]int) {
	t.Helper()
	if len(lines) > size[1] {
		t.Errorf("%d lines on a screen with %d", len(lines), size[1])
	}
	for _, line := range lines {
		if term.Cells(line) > size[0] {
			t.Errorf("%d columns on a screen with %d: %s", term.Cells(line), size[0], line)
		}
	}
}

func TestQueueShow(t *testing.T) {
	d := testDesk(t)
	for session, q := range testQueues() {
		live := session != "complete" && session != "cancelled" && session != "stale" && session != "failed"
		l := listed(t, session)
		s := &queueShow{d.view(l, noon()), q, live, noon()}
		s.view.Path = "/state/logs/queues/queue-" + session + ".json"
		for _, name := range []string{"pipe", "80"} {
			t.Run(session+" "+name, func(t *testing.T) {
				lines := s.Lines(false, sizes()[name][0], sizes()[name][1])
				goldentest.Check(t, filepath.Join("queue", "show-"+session+"-"+name+".txt"), strings.Join(lines, "\n")+"\n")
			})
		}
	}
}

// On every screen the command that matters is seen, and nothing is drawn that the
// screen has no room for.
func TestQueueShowFits(t *testing.T) {
	d := testDesk(t)
	for at := range 40 {
		q := queue.New("many", "id", strings.Split(strings.Repeat("do it,", 39)+"do it", ","), noon())
		for i := range at {
			text := "a result\nof several lines"
			q.Commands[i].Status, q.Commands[i].Result = queue.Done, &text
		}
		q.Commands[0].Stopgate = nil
		q.Commands[at].Status, q.Commands[at].Stopgate = queue.Active, &queue.Delivery{State: queue.Typing}
		s := &queueShow{d.view(queue.Listed{Session: "many", Path: "/q", Queue: q}, noon()), q, true, noon()}
		for height := 4; height < 60; height++ {
			lines := s.Lines(false, 60, height)
			checkFits(t, lines, [2]int{60, height})
			if !strings.Contains(strings.Join(lines, "\n"), "▸") {
				t.Fatalf("command %d is not seen on %d lines:\n%s", at+1, height, strings.Join(lines, "\n"))
			}
		}
	}
}

func TestTellerTellsWhatIsNew(t *testing.T) {
	var out bytes.Buffer
	tell := term.Teller(&out)
	told := func(l *queueList) []string {
		out.Reset()
		check(t, tell(l))
		var lines []string
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.TrimSpace(line[len(time.TimeOnly):]))
		}
		return lines
	}
	list := testList(t)
	if lines := told(list); len(lines) != len(list.queues) || lines[1] != "held  0/3  /clear  waiting: Claude Code is busy" {
		t.Errorf("%q", lines)
	}
	list.now = list.now.Add(time.Hour)
	if lines := told(list); lines != nil {
		t.Errorf("nothing is new: %q", lines)
	}
	list.queues[1].Completed++
	if lines := told(list); len(lines) != 1 || lines[0] != "held  1/3  /clear  waiting: Claude Code is busy" {
		t.Errorf("%q", lines)
	}
}

func TestJSONTellerTellsEachChangeOnce(t *testing.T) {
	var out bytes.Buffer
	tell := term.JSONTeller(&out)
	list := &queueList{queues: []queueView{{Session: "<a>"}}}
	for range 2 {
		check(t, tell(list))
	}
	list.queues[0].Total = 2
	check(t, tell(list))
	want := `[{"session":"<a>","path":"","completed":0,"total":0,"state":""}]
[{"session":"<a>","path":"","completed":0,"total":2,"state":""}]
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestDrawerDrawsWhatIsNew(t *testing.T) {
	var out bytes.Buffer
	width := 80
	draw := (&term.Screen{Out: &out, Size: func() (int, int) { return width, 24 }}).Drawer(false)
	list := testList(t)
	drawn := func() bool {
		out.Reset()
		check(t, draw(list))
		return out.Len() > 0
	}
	if !drawn() || drawn() {
		t.Error("it is drawn once")
	}
	list.now = list.now.Add(time.Minute) // ages are on the screen
	if !drawn() {
		t.Error("an age has changed")
	}
	list.queues, width = nil, 120
	if !drawn() {
		t.Error("the queues are gone")
	}
	if width--; !drawn() {
		t.Error("the screen has changed, which may break its lines")
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"main": "main", "a-b_c.d": "a-b_c.d", "": "''", "two words": "'two words'", "it's": `'it'\''s'`, "-x": "'-x'", "$HOME": "'$HOME'", "é": "'é'",
	} {
		if got := term.ShellWord(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}
