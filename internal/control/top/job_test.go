package top

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/goldentest"
)

// withJobs is the fleet of lab with jobs: one waits, one was taken, one is shown as its pipeline, and one is lost.
func withJobs(width, height int) State {
	s := lab(width, height)
	job := func(id, command, status, host, owner string) Job {
		return Job{Job: daemonapi.Job{ID: id + "00000000", Project: "shop", Command: command, Status: status, Host: host, Owner: owner, Added: before(7 * time.Minute)}}
	}
	waits, lost := job("11111111", "train", "pending", "", ""), job("44444444", "index", "lost", "desk", "9f56223b00000003")
	waits.Args, waits.Waits = []string{"all"}, []string{"no machine has the label gpu", "cap default is full"}
	lost.Question = &daemonapi.Decision{
		ID: "77777777aaaaaaaa", Owner: "9f56223b00000003", Name: "index", Project: "shop", Source: "lost", Context: "Job index runs on desk, which has not reported for a minute.",
		Created: before(3 * time.Minute), Options: []daemonapi.Option{{Number: 1, Name: "wait"}, {Number: 2, Name: "again"}, {Number: 3, Name: "cancel"}}, Away: daemonapi.Away{Host: "desk"},
	}
	s.World.Jobs = []Job{waits, job("22222222", "lint", "claimed", "vps", "5555555500000000"), job("33333333", "fix", "running", "vps", "da7ee9ad00000002"), lost}
	return after(s, Up{s.World})
}

// Jobs of the fleet that wait stand with what runs; one whose pipeline is shown is not shown twice.
func TestIssue20TopShowsJobs(t *testing.T) {
	var all strings.Builder
	for _, size := range [][2]int{{80, 24}, {120, 30}} {
		s := withJobs(size[0], size[1])
		for text := range strings.SplitSeq(ansi.Strip(Screen(&s)), "\n") {
			all.WriteString(strings.TrimRight(text, " ") + "\n")
		}
	}
	goldentest.Check(t, "jobs.txt", squeezed(all.String()))
	for _, size := range [][2]int{{80, 24}, {200, 60}, {20, 5}, {1, 1}, {40, 7}, {9, 40}} {
		s := withJobs(size[0], size[1])
		wantFits(t, &s, "jobs")
	}
	s := after(withJobs(120, 30), with(keys("/"), typed("job "), keys("enter", "j", "j", "enter"))...)
	wantOn(t, s, "job train 11111111", "no machine has the label gpu; cap default is full", "stopgate job cancel 11111111")
	for filter, want := range map[string]int{"job train": 1, "job": 3, "host:vps": 3, "host:. train": 0} {
		s := after(withJobs(120, 30), with(keys("/"), typed(filter), keys("enter"))...)
		if got := len(s.table.rows); got != want {
			t.Errorf("%s: %d rows, want %d", filter, got, want)
		}
	}
}

// What people are asked about a job that is lost is answered here, and what is heard of its pipeline meanwhile does not
// take the answer away.
func TestIssue20TopAnswersForALostJob(t *testing.T) {
	s := after(withJobs(120, 30), with(keys("/"), typed("index"), keys("enter", "d", "2"))...)
	s = after(s, Changed{[]daemonapi.Owner{s.World.Owners["9f56223b00000003"]}})
	does(t, s, "y", Answer{"77777777aaaaaaaa", daemonapi.Answer{Option: "again"}})
	settled := s.World
	settled.Jobs = nil
	s = after(s, Up{settled})
	wantOn(t, s, "the decision was settled meanwhile")
}

// Text of others stays on its line.
func TestIssue20TopJobsAreHarmless(t *testing.T) {
	s := withJobs(120, 30)
	s.World.Jobs[0].Command, s.World.Jobs[0].Waits = "tr\x1b[31main\nx", []string{"\x1b]0;title\a\r\nwhy"}
	s.World.Jobs[0].Host = "\x1b[2J"
	s = after(s, Up{s.World})
	wantFits(t, &s, "what others wrote")
	if text := Screen(&s); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b]0") {
		t.Errorf("%q", text)
	}
}
