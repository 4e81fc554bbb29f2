package top

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// scene is a screen with a name.
type scene struct {
	name string
	made func(width, height int) State
}

// on is a scene of a busy day after events.
func on(name string, events ...any) scene {
	return scene{name, func(width, height int) State { return after(busy(width, height), events...) }}
}

func with(lists ...[]any) (all []any) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func scenes() []scene {
	owner, agent := Ref{OwnerRow, "da7ee9ad00000002"}, Ref{AgentRow, someAgent().ID}
	block, session := someStop("block"), someWorld().Sessions[1]
	decision := Ref{DecisionRow, someDecision().ID}
	logs := make([]string, 100)
	for i := range logs {
		logs[i] = fmt.Sprintf("2026-11-17T11:59:%02dZ [write] line %d", i%60, i)
	}
	return []scene{
		on("now"),
		on("now, after a while", Shown{Ref{OwnerRow, "c84a2cdb00000001"}, Detail{Owner: waitingOwner(), Log: []string{"2026-11-17T11:50:00Z [build] built it", "no time"}}, nil}),
		on("now, with those that have finished", keys("f")...),
		on("the third row", keys("j", "j")...),
		on("a filter", with(keys("/"), typed("shop fix"))...),
		on("a filter that nothing matches", with(keys("/"), typed("zzz"), keys("enter"))...),
		on("pipelines", keys("2")...),
		on("agents", keys("3")...),
		on("sessions", keys("4")...),
		on("inbox", keys("5")...),
		on("stops", keys("6")...),
		on("projects", keys("7")...),
		on("a project", keys("7", "enter")...),
		on("a dead item", with(keys("/"), typed("bugs"), keys("enter", "enter"))...),
		on("a pipeline", with(keys("/"), typed("fix"), keys("enter", "enter"), []any{Shown{owner, Detail{Owner: wholeOwner(), Agent: someAgent(), Messages: someMessages(), Stop: &block, GateLog: []string{"--- FAIL: TestTotal", "FAIL"}}, nil}})...),
		on("an agent", with(keys("3", "enter"), []any{Shown{agent, Detail{Agent: someAgent(), Messages: someMessages()}, nil}})...),
		on("a session", with(keys("4", "j", "enter"), []any{Shown{sessionRef(&session), Detail{
			Session: &session, Stop: &block, Queue: &daemonapi.SessionQueue{Done: 1, Commands: []daemonapi.SessionCommand{{ID: 1, Command: "/clear", Status: "done"}, {ID: 2, Command: "go on", Status: "pending", Why: "it is busy"}}},
		}, nil}})...),
		on("a stop", with(keys("6", "enter"), []any{Shown{Ref{StopRow, block.ID}, Detail{Stop: &block}, nil}})...),
		on("a decision", with(keys("5", "enter"), []any{Shown{decision, Detail{Decision: wholeDecision()}, nil}})...),
		on("details that could not be asked for", with(keys("5", "enter"), []any{Shown{decision, Detail{}, errors.New("the daemon did not answer in time")}})...),
		on("answering", with(keys("5", "d"), []any{Shown{decision, Detail{Decision: wholeDecision()}, nil}}, keys("j"))...),
		on("typing a message", with(keys("5", "d", "4"), typed("not on a Friday"))...),
		on("confirming", keys("5", "d", "1")...),
		on("an answer that was refused", with(keys("5", "d", "1", "y"), []any{Answered{Err: &daemonapi.Error{Status: 409, Failure: daemonapi.Failure{Code: "conflict", Error: "it was answered with \"reject\""}}}})...),
		on("a log", with(keys("5", "l"), []any{Logged{Owner: "c84a2cdb00000001", Lines: logs}})...),
		on("a log, scrolled up", with(keys("5", "l"), []any{Logged{Owner: "c84a2cdb00000001", Lines: logs}}, keys("k", "k"))...),
		on("help", keys("?")...),
		on("the connection is lost", Down{errGone}, Tick{noon.Add(7 * time.Second)}),
		{"the daemon is not running", func(width, height int) State {
			return after(beginning(width, height), Down{fmt.Errorf("%w: nothing listens on /state/daemon.sock", daemonapi.ErrNotRunning)})
		}},
		{"more rows than lines", func(width, height int) State {
			return after(beginning(width, height), with([]any{Up{many(150)}}, keys("ctrl+d", "ctrl+d", "j"))...)
		}},
		{"nothing runs", func(width, height int) State { return after(beginning(width, height), Up{World{}}) }},
		{"an agent's shell", func(width, height int) State {
			s := busy(width, height)
			s.Agent = "CLAUDECODE"
			return after(s, keys("5", "d")...)
		}},
	}
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		var all strings.Builder
		for _, scene := range scenes() {
			s := scene.made(size[0], size[1])
			fmt.Fprintf(&all, "──── %s\n", scene.name)
			for text := range strings.SplitSeq(ansi.Strip(Screen(&s)), "\n") {
				all.WriteString(strings.TrimRight(text, " ") + "\n")
			}
		}
		goldentest.Check(t, fmt.Sprintf("%dx%d.txt", size[0], size[1]), squeezed(all.String()))
	}
}

// squeezed has one empty line in the place of many.
func squeezed(text string) string {
	for strings.Contains(text, "\n\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n\n", "\n\n\n")
	}
	return text
}

// No screen is larger than its window, however small that is.
func TestEveryScreenFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {20, 5}, {1, 1}, {2, 1}, {5, 2}, {10, 3}, {40, 7}, {9, 40}, {300, 4}} {
		for _, scene := range scenes() {
			s := scene.made(size[0], size[1])
			wantFits(t, &s, fmt.Sprintf("%s at %v", scene.name, size))
			s = scene.made(80, 24) // and is made smaller then
			s = after(s, Resize{size[0], size[1]})
			wantFits(t, &s, fmt.Sprintf("%s, made %v", scene.name, size))
		}
	}
	s := after(busy(80, 24), Resize{0, 0})
	if got := Screen(&s); got != "" {
		t.Errorf("in no window: %q", got)
	}
}

// wantFits checks that a screen fits its window, and has no escape sequence but our own looks.
func wantFits(t *testing.T, s *State, what string) {
	t.Helper()
	screen := Screen(s)
	if screen == "" {
		return
	}
	lines := strings.Split(screen, "\n")
	if len(lines) > s.Height {
		t.Errorf("%s: %d lines", what, len(lines))
	}
	for _, text := range lines {
		if n := cells(text); n > s.Width {
			t.Errorf("%s: %d columns: %q", what, n, text)
		}
		for _, look := range []string{"1", "2", "7", "31", "32", "33", "0"} {
			text = strings.ReplaceAll(text, "\x1b["+look+"m", "")
		}
		if at := strings.IndexFunc(text, func(r rune) bool {
			return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		}); at >= 0 {
			t.Errorf("%s: %q has a character that steers", what, text)
		}
	}
}

// What an agent controls is shown without harm: on no screen does it steer the terminal or leave its place.
func FuzzScreen(f *testing.F) {
	for _, text := range []string{
		"plain", "\x1b[2J\x1b]0;title\a", "two\nlines\r\tand more", "한국어 日本語 👨‍👩‍👧 🇩🇪 ❤️", "\u202eabc\u2066 שלום", "z̴̡͕͉͇̣̹͓a", "\x00\x7f\u0085\xff\xfe", strings.Repeat("x", 5000), "a\u034f\u200b\u3164\u00ad",
	} {
		f.Add(text, uint8(80), uint8(24))
		f.Add(text, uint8(20), uint8(5))
		f.Add(text, uint8(80), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, width, height uint8) {
		for _, s := range hostile(text, int(width), int(height)) {
			wantFits(t, &s, "hostile")
		}
	})
}

// However long a text is, it is cut to its place.
func TestHugeTexts(t *testing.T) {
	racetest.Skip(t)
	for _, text := range []string{"x", "한", "e\u0301", "\x1b[", "a\n"} {
		huge := strings.Repeat(text, (1<<20)/len(text))
		for _, s := range slices.Concat(hostile(huge, 80, 24), hostile(huge, 2, 200)) {
			wantFits(t, &s, fmt.Sprintf("a megabyte of %q", text))
		}
	}
}

// hostile are the screens of a world in which every text that an agent may have written is this one.
func hostile(text string, width, height int) []State {
	owner, agent, decision := wholeOwner(), someAgent(), wholeDecision()
	for _, field := range []*string{
		&owner.Name, &owner.Step, &owner.Status, &owner.Reason, &owner.Error, &owner.Project, &owner.By, &owner.Steps[0].Step, &owner.Steps[0].Outcome, &owner.Steps[0].Error, &owner.Children[0].Name, &owner.Children[0].Reason,
		&agent.Name, &agent.Step, &agent.Signal, &agent.Project, &agent.Status,
		&decision.Name, &decision.Step, &decision.Source, &decision.Context, &decision.Options[0].Name, &decision.Options[0].Description, &decision.Project,
		&decision.Details.LastMessage, &decision.Details.Changes[0], &decision.Details.Gates[0],
	} {
		*field = text
	}
	owner.Agent = agent
	asks := *decision
	asks.ID, asks.Source = "asks", "question"
	asks.Ask = &daemonapi.Ask{Questions: []daemonapi.Question{{Question: text, Multi: true, Options: []daemonapi.Choice{{Label: text, Description: text}}}, {Question: text}}}
	stop := someStop("block")
	stop.Session, stop.Project, stop.Event, stop.Headline, stop.Result, stop.Trees[0].Why, stop.Trees[0].Root = text, text, text, text, text, text, text
	stop.Trees[0].Gates[1] = daemonapi.Gate{Job: text, Outcome: "failed", Why: text, Log: text}

	w := World{Owners: map[string]daemonapi.Owner{}, Polled: Polled{Stops: []daemonapi.GateRun{stop}}}
	w.Status.Trouble = []string{text}
	asking := *owner
	asking.ID, asking.Status, asking.Decision = "asking", "waiting", &asks
	asks.Owner = asking.ID
	w.add([]daemonapi.Owner{*owner, asking})
	w.Sessions = []daemonapi.Session{{Session: text, Pane: text, Socket: text, State: text, Since: noon}}
	w.Seen = []daemonapi.Seen{{ID: "seen", Project: text, State: text, Headline: text, Since: noon}}
	w.Dead = []daemonapi.WorkItem{{ID: "dead", Queue: text, Error: text, Key: text, Project: text}}
	base := after(beginning(width, height), Up{w}, Surveyed{[]Project{{Root: text, Why: text, Hint: text}}})

	all := []State{base, after(base, Down{errors.New(text)}), after(beginning(width, height), Down{errors.New(text)})}
	for v := range views {
		all = append(all, after(base, keys(fmt.Sprint(v+1))...))
	}
	show := func(d Detail, err error) State {
		return after(base, with(keys("5", "enter"), []any{Shown{Ref{DecisionRow, asks.ID}, d, err}})...)
	}
	queue := &daemonapi.SessionQueue{Session: text, Why: text, Ended: text, Commands: []daemonapi.SessionCommand{{Command: text, Status: text, Why: text}}}
	messages := []daemonapi.Message{{Kind: "words", Text: text}, {Kind: "tool", Text: text}, {Kind: "fault", Text: text}}
	return append(
		all,
		show(Detail{Owner: owner, Agent: agent, Messages: messages, Stop: &stop, GateLog: []string{text}}, nil),
		show(Detail{Agent: agent, Messages: messages}, nil),
		show(Detail{Owner: owner, Log: []string{text, text}}, nil),
		show(Detail{Decision: decision}, nil),
		show(Detail{Decision: &asks}, nil),
		show(Detail{Session: &w.Sessions[0], Queue: queue, Stop: &stop}, nil),
		show(Detail{Stop: &stop}, nil),
		show(Detail{}, errors.New(text)),
		after(base, with(keys("5", "d"), []any{Shown{Ref{DecisionRow, asks.ID}, Detail{Decision: &asks}, nil}})...),
		after(base, with(keys("5", "d", "space", "enter"), keys("enter"), []any{Key{Text: text}})...),
		after(base, with(keys("5", "d", "space", "enter", "enter"), []any{Key{Text: text}}, keys("enter"))...),
		after(base, with(keys("5", "l"), []any{Logged{Owner: asking.ID, Lines: []string{text, text}, Err: errors.New(text)}})...),
		after(base, with(keys("/"), []any{Key{Text: text}})...),
		after(base, Attached{errors.New(text)}),
	)
}
