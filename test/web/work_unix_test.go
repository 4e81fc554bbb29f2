//go:build unix

package web

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// A person cancels a pipeline on a phone: the page asks once more, and shows live what became of it.
func TestIssue18APipelineIsCancelledOnAPhone(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("build").ID
	b := open(t, s.ui().Link)
	b.look(phone, false)
	b.visit("/pipelines/" + id)
	b.sees("running")
	b.tap("details.act summary")
	b.sees("A cancelled pipeline cannot be resumed.")
	b.tap("button.danger")
	b.sees("cancelled")
	s.waits(id, "cancelled")
	b.clean()
}

// The page of a pipeline follows it without being loaded again: what a step prints, and where it is.
func TestIssue18APipelineIsFollowedLive(t *testing.T) {
	s := newStage(t, busy)
	id := s.start("release", "2.4.0").ID
	asked := s.waits(id, "waiting")
	b := open(t, s.ui().Link)
	b.visit("/pipelines/" + id)
	b.sees("214 tests passed")
	b.eval("document.body.dataset.same = 'yes'")
	s.run("decision", "answer", asked.Decision.ID, "release")
	b.sees("shipped")
	eventually(t, "the graph shows the end", func() bool { return b.eval("document.querySelectorAll('.graph .state-done').length") == "3" })
	if b.eval("document.body.dataset.same") != "yes" {
		t.Error("the page was loaded again")
	}
	b.clean()
}

// Charts are drawn, go on with the journal, and can be read as a table.
func TestIssue18ChartsAreDrawnAndGoOn(t *testing.T) {
	s := newStage(t, busy)
	j := journal.New(filepath.Join(s.state, "journal"), journal.Limits{})
	judged := func(tree string) {
		_, err := j.Append(&event.Record{
			Version: event.Version, ID: journal.NewID(), Call: journal.NewID(), Kind: event.Answered, Time: time.Now(), Event: "Stop", Session: "a", Project: s.root, Decision: "allow",
			Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "passed", Status: "passed"}},
			Trees:    []event.Tree{{Root: s.root, Tree: tree, Gates: []event.Gate{{Job: "check:.:unit", Outcome: event.GatePassed, DurationMS: 1200}}}},
		})
		check(t, err)
	}
	judged("a")
	b := open(t, s.ui().Link)
	b.look(phone, true)
	b.visit("/gates?since=24h")
	eventually(t, "a chart is drawn", func() bool { return b.eval("document.querySelectorAll('#c-outcomes canvas').length") == "1" })
	for i := range 3 {
		judged(fmt.Sprint(i))
	}
	b.sees("4 of 4")
	eventually(t, "the chart has them", func() bool {
		return b.eval("JSON.parse(document.querySelector('#c-outcomes').dataset.chart).values[1].reduce((a, n) => a + n)") == "4"
	})
	b.tap("#c-outcomes summary")
	b.sees("answered from proofs")
	b.clean()
}
