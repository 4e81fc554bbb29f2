package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

func TestLogText(t *testing.T) {
	for line, want := range map[string]string{
		"2026-01-30T08:14:09Z [build] making a": "making a",
		"2026-01-30T08:14:09Z [build] [x] y":    "[x] y",
		"2026-01-30T08:14:09Z text":             "text",
		"2026-01-30T08:14:09Z [build":           "[build",
		"2026-01-30T08:14:09Z":                  "2026-01-30T08:14:09Z",
		"no time [a] b":                         "no time [a] b",
		"":                                      "",
	} {
		if got := logText(line); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{"3", "3f9a12bc", "0d9a4d52-6f1e-5c3b-9a77-2f1d3c4b5a69"} {
		if err := checkID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", "..", "a/b", "3F", "3f\n", "%2f", strings.Repeat("a", 65), "x"} {
		if err := checkID(id); err == nil {
			t.Errorf("%q is taken for an id", id)
		}
	}
}

func TestVarsOf(t *testing.T) {
	got, err := varsOf([]string{"a=1", "b=", "c=x=y"})
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "", "c": "x=y"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, pairs := range [][]string{{"a"}, {"=1"}, {"a=1", "a=2"}, {""}} {
		if got, err := varsOf(pairs); err == nil {
			t.Errorf("%q: %v", pairs, got)
		}
	}
}

// Those that are under way are always listed, the others up to a number.
func TestChoose(t *testing.T) {
	owners := func(states string) (all []daemonapi.Owner) {
		for i, s := range states {
			status := map[rune]string{'r': ownerRunning, 'w': ownerWaiting, 'd': ownerDone}[s]
			all = append(all, daemonapi.Owner{ID: fmt.Sprint(i), Status: status, Created: time.Unix(int64(1000-i), 0)})
		}
		return all
	}
	for _, test := range []struct {
		states    string
		all       bool
		want      int
		lastIsOld bool
		more      bool
	}{
		{"", false, 0, false, false},
		{strings.Repeat("d", 30), false, listLength, false, true},
		{strings.Repeat("d", 20), false, listLength, true, false},
		{strings.Repeat("d", 30), true, 30, true, false},
		{strings.Repeat("r", 30), false, 30, true, false},
		{strings.Repeat("d", 30) + "w", false, listLength, true, true},
		{strings.Repeat("r", 25) + "dd", false, 25, false, true},
	} {
		ask := func(f daemonapi.Filter) (some []daemonapi.Owner, err error) {
			for _, o := range owners(test.states) {
				if (f.Limit == 0 || len(some) < f.Limit) && (f.Status == "" || slices.Contains(strings.Split(f.Status, ","), o.Status)) {
					some = append(some, o)
				}
			}
			return some, nil
		}
		kept, more, err := choose(ask, daemonapi.Filter{Limit: listLength}, "", test.all)
		last := len(kept) > 0 && kept[len(kept)-1].ID == fmt.Sprint(len(test.states)-1)
		sorted := slices.IsSortedFunc(kept, func(a, b daemonapi.Owner) int { return b.Created.Compare(a.Created) })
		if len(kept) != test.want || last != test.lastIsOld || more != test.more || !sorted || err != nil {
			t.Errorf("%q: %d kept, the oldest: %t, more: %t, %v", test.states, len(kept), last, more, err)
		}
	}
}

// A daemon from before lists of states is asked for each of them.
func TestIssue19PipelinesOfAnOlderDaemon(t *testing.T) {
	older := func(f daemonapi.Filter) ([]daemonapi.Owner, error) {
		switch f.Status {
		case ownerRunning:
			return []daemonapi.Owner{{ID: "1", Status: ownerRunning, Created: time.Unix(1, 0)}}, nil
		case ownerWaiting:
			return []daemonapi.Owner{{ID: "2", Status: ownerWaiting, Created: time.Unix(2, 0)}}, nil
		}
		return nil, &daemonapi.Error{Failure: daemonapi.Failure{Code: "invalid", Error: "status is none of these"}}
	}
	got, err := oneByOne(older, daemonapi.Filter{Status: "running,waiting,held"})
	if err != nil || len(got) != 2 || got[0].ID != "2" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := oneByOne(older, daemonapi.Filter{Status: "held"}); err == nil {
		t.Error("what one asks for and the daemon does not know is an error")
	}
	gone := errors.New("gone")
	if _, err := oneByOne(func(daemonapi.Filter) ([]daemonapi.Owner, error) { return nil, gone }, daemonapi.Filter{Status: "running,held"}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	for code, want := range map[string]int{
		"invalid": term.ExitUsage, "too_large": term.ExitUsage, "not_found": term.ExitUsage, "conflict": term.ExitFailed,
		"untrusted": term.ExitCouldNotRun, "unavailable": term.ExitCouldNotRun, "forbidden": term.ExitFailed, "internal": term.ExitFailed,
	} {
		err := explainRefusal(&daemonapi.Error{Failure: daemonapi.Failure{Code: code, Error: "no", Hint: "do this"}}, "")
		got := term.ExitFailed
		var coded term.CodeError
		if errors.As(err, &coded) {
			got = coded.Code
		}
		var hinted term.HintError
		if got != want || err.Error() != "no" || !errors.As(err, &hinted) || hinted.Hint != "do this" {
			t.Errorf("%s: exit %d, %v", code, got, err)
		}
	}
}

func TestEndOf(t *testing.T) {
	for status, want := range map[string]int{ownerDone: term.ExitOK, ownerFailed: term.ExitFailed, ownerWaiting: term.ExitCouldNotRun, ownerCancelled: term.ExitCancelled} {
		got := term.ExitOK
		var coded term.CodeError
		if errors.As(endOf(&daemonapi.Owner{Status: status}), &coded) {
			got = coded.Code
		}
		if got != want {
			t.Errorf("%s: exit %d", status, got)
		}
	}
}

func TestFitMiddle(t *testing.T) {
	lines := []string{"head", "about", "1", "2", "3", "4"}
	for height, want := range map[int]string{
		10: "head about 1 2 3 4", 6: "head about 1 2 3 4", 5: "head about … 2 more 3 4", 4: "head about … 3 more 4", 2: "head about", 1: "head",
	} {
		if got := strings.Join(fitMiddle(lines, height), " "); got != want {
			t.Errorf("%d: %s", height, got)
		}
	}
}

// Whatever an owner holds, it fits the screen, and nothing of it steers that.
func TestViewsFitTheScreen(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "build", "a\nb", "\x1b[31mred", "日本語の名前", strings.Repeat("long ", 40)}))
	state := rapid.SampledFrom(ownerStates())
	now := time.Date(2026, 1, 30, 8, 14, 9, 0, time.UTC)
	when := rapid.Custom(func(t *rapid.T) time.Time {
		return now.Add(-time.Duration(rapid.Int64Range(-1e12, 1e15).Draw(t, "ago")))
	})
	away := rapid.Custom(func(t *rapid.T) daemonapi.Away {
		return daemonapi.Away{Host: text.Draw(t, "host"), Heard: rapid.Float64().Draw(t, "heard")}
	})
	decision := rapid.Custom(func(t *rapid.T) daemonapi.Decision {
		return daemonapi.Decision{
			Away: away.Draw(t, "away"),
			ID:   "dec1", Name: text.Draw(t, "name"), Source: text.Draw(t, "source"), Step: text.Draw(t, "step"), Context: text.Draw(t, "context"),
			Created: when.Draw(t, "created"), Options: []daemonapi.Option{{Number: 1, Name: "nudge", Description: text.Draw(t, "description"), Recommended: true}},
			Resolved: rapid.Ptr(when, true).Draw(t, "resolved"), Chosen: text.Draw(t, "chosen"), Message: text.Draw(t, "message"),
		}
	})
	owner := rapid.Custom(func(t *rapid.T) daemonapi.Owner {
		return daemonapi.Owner{
			Away: away.Draw(t, "away"),
			ID:   "3f9a12bc00000000", Kind: rapid.SampledFrom([]string{"pipeline", "run"}).Draw(t, "kind"), Name: text.Draw(t, "name"), Project: text.Draw(t, "project"),
			Step: text.Draw(t, "step"), Status: state.Draw(t, "status"), Error: text.Draw(t, "error"), Created: when.Draw(t, "created"), Updated: now,
			Vars: map[string]string{text.Draw(t, "var"): text.Draw(t, "value")},
			Steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) daemonapi.Visit {
				return daemonapi.Visit{Step: text.Draw(t, "step"), Started: when.Draw(t, "started"), Finished: rapid.Ptr(when, true).Draw(t, "finished"), Outcome: state.Draw(t, "outcome"), Error: text.Draw(t, "error")}
			}), 0, 40).Draw(t, "steps"),
			Decision: rapid.Ptr(decision, true).Draw(t, "decision"),
			Agent:    &daemonapi.Agent{ID: "0d9a4d52", Name: text.Draw(t, "agent"), Status: state.Draw(t, "status"), USD: 1, Tokens: 5, Terminal: &daemonapi.Terminal{}},
		}
	})
	clock := func() time.Time { return now }
	rapid.Check(t, func(t *rapid.T) {
		owners := rapid.SliceOfN(owner, 1, 4).Draw(t, "owners")
		show := &ownerShow{owner: owners[0], now: clock}
		if rapid.Bool().Draw(t, "watched") {
			show.last = &lastLine{}
			show.last.set(text.Draw(t, "last"))
		}
		width, height := rapid.IntRange(20, 200).Draw(t, "width"), rapid.IntRange(5, 60).Draw(t, "height")
		for _, seen := range []term.Glimpse{
			show,
			ownerList(owners, "", true, clock),
			ownersShow{show},
			decisionList(rapid.SliceOfN(decision, 0, 4).Draw(t, "decisions"), clock),
			agentList([]daemonapi.Agent{{ID: "a", Name: text.Draw(t, "agent"), Owner: "b", Step: text.Draw(t, "step"), Status: "running", ClaudeCode: true, USD: 1, Away: away.Draw(t, "away")}}, clock),
		} {
			lines := seen.Lines(false, width, height)
			if len(lines) > height {
				t.Fatalf("%T: %d lines for %d", seen, len(lines), height)
			}
			all := slices.Clone(lines)
			for _, fact := range seen.Facts() {
				all = append(all, fact.Text)
			}
			for _, line := range all {
				if strings.ContainsAny(line, "\n\r\x1b\x07") {
					t.Fatalf("%T: %q", seen, line)
				}
			}
			for _, line := range lines {
				if term.Cells(line) > width {
					t.Fatalf("%T: %d columns for %d: %q", seen, term.Cells(line), width, line)
				}
			}
		}
	})
}
