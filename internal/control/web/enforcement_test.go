package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/stops"
)

func (p *fakePlane) Glance(root string, _ time.Time) doctor.Glance {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, known := p.glances[root]
	if !known {
		g = doctor.Glance{Gone: true}
	}
	g.Root = root
	return g
}

// sound is a project that is set up.
func sound() doctor.Glance {
	return doctor.Glance{Configured: true, Trust: trust.Approved, Hooks: settings.Reach{Scopes: []settings.Scope{settings.User}}}
}

// Each way in which a project is not enforced is named, with the command that helps.
func TestIssue18EnforcementIsJudged(t *testing.T) {
	now := time.Now()
	brief := func(gap stops.GapKind) stops.Brief {
		b := stops.Brief{ID: "a", Time: now.Add(-time.Hour), Headline: "so it was"}
		if gap != "" {
			b.Gap = &stops.Gap{Kind: gap}
		}
		return b
	}
	proven := stops.Place{Root: "/p", Last: brief(""), Proof: brief(""), Held: brief("")}
	gap := func(kind stops.GapKind) stops.Place {
		p := proven
		p.Last = brief(kind)
		return p
	}
	with := func(change func(g *doctor.Glance)) doctor.Glance {
		g := sound()
		change(&g)
		return g
	}
	silent := stops.Place{Root: "/p"}
	unanswered := proven
	unanswered.Unanswered = 2
	for _, test := range []struct {
		name   string
		place  stops.Place
		glance doctor.Glance
		rank   int
		says   string
		help   string
	}{
		{"all is well", proven, sound(), enforced, "", ""},
		{"off", proven, with(func(g *doctor.Glance) { g.Off = &stop.Recess{Until: now, Why: "a big change"} }), notEnforced, "a big change", "stopgate on"},
		{"never approved", proven, with(func(g *doctor.Glance) { g.Trust = trust.Untrusted }), notEnforced, "not approved", "stopgate trust"},
		{"damaged", proven, with(func(g *doctor.Glance) { g.Trust, g.Fault = trust.Damaged, "bit rot" }), notEnforced, "bit rot", "stopgate trust"},
		{"no configuration", silent, with(func(g *doctor.Glance) { g.Configured = false }), nothingToDo, "no configuration", "stopgate init"},
		{"no hooks", silent, with(func(g *doctor.Glance) { g.Hooks = settings.Reach{} }), notEnforced, "no settings file", "stopgate hooks install"},
		{"hooks that do not count", silent, with(func(g *doctor.Glance) { g.Hooks = settings.Reach{Why: "all hooks are off"} }), notEnforced, "all hooks are off", "stopgate hooks install"},
		{"no hooks, but stops", proven, with(func(g *doctor.Glance) { g.Hooks = settings.Reach{} }), notSure, "stops arrive", "stopgate doctor"},
		{"no block was seen", silent, sound(), notSure, "no block has been seen", "stopgate doctor"},
		{"doctor saw one", silent, with(func(g *doctor.Glance) { g.Tested = &doctor.Tested{Time: now, Live: true} }), enforced, "", ""},
		{"doctor saw none", proven, with(func(g *doctor.Glance) { g.Tested = &doctor.Tested{Time: now, Fault: "not blocked"} }), notEnforced, "not blocked", "stopgate doctor"},
		{"doctor saw none, long ago", proven, with(func(g *doctor.Glance) { g.Tested = &doctor.Tested{Time: now.Add(-9 * time.Hour)} }), enforced, "", ""},
		{"edited", proven, with(func(g *doctor.Glance) { g.Trust, g.Changed = trust.Edited, []string{"config.yml"} }), notSure, "config.yml", "stopgate trust --show"},
		{"gates could not run", gap(stops.CouldNotRun), sound(), notEnforced, "so it was", "stopgate doctor"},
		{"it was not approved then", gap(stops.Untrusted), with(func(g *doctor.Glance) { g.ApprovedAt = now }), enforced, "", ""},
		{"it was off then", gap(stops.Off), sound(), enforced, "", ""},
		{"the retry limit is reached", proven, with(func(g *doctor.Glance) { g.Failures = 4 }), notEnforced, "retry limit", "stopgate clean"},
		{"red gates do not count", proven, with(func(g *doctor.Glance) { g.Exempt = []config.Exemption{{Setting: "max_retries: 0"}} }), notSure, "max_retries: 0", ""},
		{"issue 19: a plugin that is disabled", silent, with(func(g *doctor.Glance) {
			g.Hooks = settings.Reach{Why: "the plugin stopgate@stopgate is disabled in /s", Help: "claude plugin enable stopgate@stopgate"}
		}), notEnforced, "is disabled in /s", "claude plugin enable stopgate@stopgate"},
		{"a configuration that is invalid", proven, with(func(g *doctor.Glance) { g.Invalid = true }), notEnforced, "cannot be used", "stopgate validate"},
		{"it only observes", gap(stops.Observing), sound(), notSure, "so it was", ""},
		{"a hook was killed", unanswered, sound(), notSure, "2 stops", "stopgate doctor"},
	} {
		row := judge(test.place, test.glance, true, now)
		if row.Rank != test.rank || !strings.Contains(row.Why, test.says) || test.help != "" && row.Help != test.help {
			t.Errorf("%s: %+v", test.name, row)
		}
	}
	if row := judge(proven, doctor.Glance{}, false, now); row.Rank != notSure {
		t.Errorf("a disk that does not answer: %+v", row)
	}
}

// The first line answers whether the thing enforces at all. Projects are those of the journal, those that a
// person approved, and those of pipelines.
func TestIssue18EnforcementIsAnsweredInTheFirstLine(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	contains(t, v.get("/enforcement").body, "No project is known yet.", "stopgate init")
	yes := true
	block := event.Verdict{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true, Message: "unit failed"}
	s.answered(event.Record{Project: "/home/me/shop", Decision: "block", Prompt: "p", Verdicts: []event.Verdict{block}, Time: s.clock().Add(-2 * time.Hour)})
	s.answered(event.Record{Project: "/home/me/shop", Decision: "allow", Prompt: "p", Enums: event.Enums{StopHookActive: &yes}, Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "passed", Status: "passed"}}, Time: s.clock().Add(-time.Hour)})
	s.answered(event.Record{Project: "/tmp/stopgate-doctor-1", Session: doctor.SessionPrefix + "1", Decision: "block", Verdicts: []event.Verdict{block}, Time: s.clock()})
	s.plane.set(func() {
		s.plane.owners = []daemonapi.Owner{{ID: pipelineID, Project: "/home/me/blog"}, {ID: pipelineID, Project: "/home/me/gone"}}
		s.plane.glances = map[string]doctor.Glance{"/home/me/shop": sound()}
	})
	page := v.get("/enforcement").body
	contains(t, page, "Yes: enforced in 1 project.", "an agent was blocked", "in the user settings", "whose folder is gone", "last saw a block on this machine")
	if strings.Contains(page, "stopgate-doctor-1") {
		t.Error("a project of doctor is listed")
	}
	s.passes(time.Minute)
	s.plane.set(func() { s.plane.glances["/home/me/blog"] = doctor.Glance{Configured: true, Trust: trust.Untrusted} })
	page = v.get("/enforcement").body
	contains(t, page, "Not everywhere: 1 of 2 projects is not enforced: blog.", "stopgate trust")
	if strings.Index(page, ">blog<") > strings.Index(page, ">shop<") {
		t.Error("what is not enforced does not come first")
	}
}

// Hostile names and a thousand projects.
func TestIssue18EnforcementIsHarmlessAndBounded(t *testing.T) {
	s := newScene(t)
	s.answered(event.Record{Project: "/" + hostile, Session: hostile, Decision: "allow", Verdicts: []event.Verdict{{Keeper: "config", Outcome: "could_not_run", Message: hostile}}, Time: s.clock()})
	s.plane.set(func() {
		g := sound()
		g.Hooks, g.Fault, g.Changed, g.Tested, g.Off = settings.Reach{Why: hostile}, hostile, []string{hostile}, &doctor.Tested{Fault: hostile, Time: s.now}, &stop.Recess{Why: hostile}
		s.plane.glances = map[string]doctor.Glance{"/" + hostile: g}
		for i := range 1000 {
			root := fmt.Sprintf("/p%d", i)
			s.plane.owners = append(s.plane.owners, daemonapi.Owner{ID: pipelineID, Project: root})
			s.plane.glances[root] = sound()
		}
	})
	v := s.signedIn()
	page := v.get("/enforcement").body
	harmless(t, page)
	contains(t, page, "901 more projects")
	s.plane.set(func() {
		g := s.plane.glances["/"+hostile]
		g.Off = nil
		s.plane.glances["/"+hostile] = g
	})
	s.passes(time.Minute)
	harmless(t, v.get("/enforcement").body)
}

// A project on a disk that does not answer keeps no page waiting, and the others are shown.
func TestIssue18AProjectThatDoesNotAnswerKeepsNoPageWaiting(t *testing.T) {
	stuck := make(chan struct{})
	g := newGlances()
	plane := &stuckPlane{fakePlane: newFakePlane(), at: "/stuck", until: stuck}
	plane.glances = map[string]doctor.Glance{"/p": sound(), "/stuck": sound()}
	now := time.Now()
	for range 3 {
		if seen := g.of(plane, []string{"/stuck", "/p"}, now); len(seen) > 1 {
			t.Errorf("%v", seen)
		}
	}
	close(stuck)
	for len(g.of(plane, []string{"/stuck", "/p"}, now)) < 2 { // it is seen when the disk answers
	}
}

type stuckPlane struct {
	*fakePlane
	at    string
	until chan struct{}
}

func (p *stuckPlane) Glance(root string, now time.Time) doctor.Glance {
	if root == p.at {
		<-p.until
	}
	return p.fakePlane.Glance(root, now)
}
