package top

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/goldentest"
)

// lab is a day's work on three machines, one of them away.
func lab(width, height int) State {
	w := someWorld()
	for id, away := range map[string]daemonapi.Away{
		"c84a2cdb00000001": {Host: "vps", Heard: 1}, "da7ee9ad00000002": {Host: "vps", Heard: 1}, "9f56223b00000003": {Host: "desk", Heard: 251},
	} {
		o := w.Owners[id]
		o.Away = away
		w.Owners[id] = o
	}
	w.Fleet = daemonapi.Fleet{Name: "lab", Member: "laptop", Connected: true, Members: []daemonapi.FleetMember{
		{Name: "laptop", User: "ada", State: "up"}, {Name: "vps", User: "ada", State: "up"}, {Name: "desk", User: "ada", State: "silent", Heard: 251},
	}}
	return after(beginning(width, height), Up{w}, Surveyed{[]Project{{Root: "/home/ada/shop", Enforced: true}}})
}

// In a fleet there is a column with machines, the header says which are away, and what is old has its age.
func TestIssue20TopShowsMachines(t *testing.T) {
	var all strings.Builder
	for _, size := range [][2]int{{80, 24}, {120, 30}} {
		s := lab(size[0], size[1])
		for text := range strings.SplitSeq(ansi.Strip(Screen(&s)), "\n") {
			all.WriteString(strings.TrimRight(text, " ") + "\n")
		}
	}
	goldentest.Check(t, "fleet.txt", squeezed(all.String()))
	for _, size := range [][2]int{{80, 24}, {200, 60}, {20, 5}, {1, 1}, {40, 7}, {9, 40}} {
		s := lab(size[0], size[1])
		wantFits(t, &s, "a fleet")
	}
	if s := busy(120, 30); strings.Contains(Screen(&s), "HOST") {
		t.Error("without a fleet there is a column with machines")
	}
}

// A person who types the name of a machine sees what is on it.
func TestIssue20TopFiltersByMachine(t *testing.T) {
	for filter, want := range map[string]int{"host:vps": 2, "host:desk": 1, "host:vps fix": 1, "host:pi": 0} {
		s := after(lab(120, 30), with(keys("/"), typed(filter), keys("enter"))...)
		if got := len(s.table.rows); got != want {
			t.Errorf("%s: %d rows, want %d", filter, got, want)
		}
	}
	here := after(lab(120, 30), with(keys("/"), typed("host:."), keys("enter"))...).table.rows
	same := after(lab(120, 30), with(keys("/"), typed("host:laptop"), keys("enter"))...).table.rows
	if len(here) == 0 || len(here) != len(same) {
		t.Errorf("%d rows here, %d by name", len(here), len(same))
	}
	for i := range here {
		if here[i].away.Host != "" {
			t.Errorf("%+v is on %s", here[i].ref, here[i].away.Host)
		}
	}
}

// The terminal and the log of another machine are there: a person is told how to attach, and sees the log's end.
func TestIssue20TopOnAnotherMachine(t *testing.T) {
	s := after(lab(120, 30), with(keys("/"), typed("fix"), keys("enter"))...)
	s = does(t, s, "a")
	wantOn(t, s, "ssh -t ada@vps stopgate agent attach 1c29fa8a")
	s = does(t, s, "l", Follow{"da7ee9ad00000002", true})
	s = after(s, Logged{Owner: "da7ee9ad00000002", Lines: []string{"2026-11-17T11:59:00Z [write] line"}, Ended: true})
	wantOn(t, s, "a log on vps is not followed", "line")

	answering := after(lab(120, 30), keys("5", "d", "1")...)
	wantOn(t, answering, "release on vps")
	does(t, answering, "y", Answer{someDecision().ID, daemonapi.Answer{Option: "approve"}})
}

// Paths of other machines say nothing about projects here.
func TestIssue20TopSurveysProjectsHere(t *testing.T) {
	w := World{Owners: map[string]daemonapi.Owner{
		"1": {ID: "1", Project: "/here", Status: "running"}, "2": {ID: "2", Project: "/there", Status: "running", Away: daemonapi.Away{Host: "vps"}},
	}}
	_, effects := Next(after(beginning(80, 24), Tick{noon.Add(-time.Hour)}, Surveyed{}, Tick{noon}), Up{w})
	for _, effect := range effects {
		if survey, is := effect.(Survey); is && len(survey.Roots) == 1 && survey.Roots[0] == "/here" {
			return
		}
	}
	t.Errorf("%+v", effects)
}
