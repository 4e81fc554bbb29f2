//go:build unix

package gauntlet

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const claimConfig = `entry_points:
  - path: .
    checks:
      - name: unit
        command: "true"
        accept_proof: true
      - name: part
        command: "true"
        inputs: [part.txt]
        accept_proof: true
      - name: place
        command: "true"
        env: [PLACE]
        tools: [cat ../version 2>/dev/null || echo 1]
        accept_proof: true
      - name: history
        command: git log -1
        accept_proof: true
      - name: fresh
        command: "true"
        cache: false
        accept_proof: true
      - name: shy
        command: "true"
    reviews:
      - name: read
        prompt: Look.
        accept_proof: true
`

// claimed is what is proven of the commit, by the names of the gates.
func (s *scene) claimed() map[string]string {
	s.t.Helper()
	o := s.options()
	o.Answers = false
	claims, err := ClaimsOf(s.t.Context(), o)
	must(s.t, err)
	if claims.Commit != s.git("rev-parse", "HEAD") {
		s.t.Errorf("about %s", claims.Commit)
	}
	names := map[string]string{}
	for _, c := range claims.Passed {
		names[c.Job] = c.Covers
	}
	for _, left := range claims.Left {
		job, _, _ := strings.Cut(left, " ")
		names[job] = ""
	}
	return names
}

// newClaimScene has every gate pass on a commit.
func newClaimScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, "cli:\n  default_preference: [claude]\n"+claimConfig)
	s.program("claude", `cat >/dev/null; echo '{"status": "pass", "violations": []}'`)
	s.write("part.txt", "part\n")
	s.commit()
	s.want(Passed)
	return s
}

// What a pass covers depends on what the gate may read, and on nothing of the machine.
func TestIssue19WhatAPassCovers(t *testing.T) {
	s := newClaimScene(t)
	first := s.claimed()
	for job, covers := range first {
		if local := slices.Contains([]string{"check:.:history", "check:.:fresh"}, job); local != (covers == "") {
			t.Errorf("%s covers %q", job, covers)
		}
	}
	if len(first) != 7 {
		t.Fatalf("%v", first)
	}

	// Another machine: another folder, state, branch and name of the base.
	other := *s
	other.root, other.state = t.TempDir(), t.TempDir()
	s.git("clone", "-q", s.root, other.root)
	other.git("checkout", "-q", "-b", "elsewhere", "work")
	other.git("branch", "-q", "-f", "base", s.git("rev-parse", "main"))
	o := other.options()
	o.Scope.Base, o.Scope.Explicit = "base", true
	wantResult(t, Execute(t.Context(), o), Passed)
	claims, err := ClaimsOf(t.Context(), o)
	must(t, err)
	for _, c := range claims.Passed {
		if c.Covers != first[c.Job] {
			t.Errorf("%s covers something else elsewhere", c.Job)
		}
	}
	if len(claims.Passed) != 5 {
		t.Errorf("%+v", claims)
	}

	// What changes for whom.
	for name, change := range map[string]struct {
		make func(s *scene)
		of   []string
	}{
		"a file":     {func(s *scene) { s.write("base.txt", "other\n") }, []string{"check:.:place", "check:.:shy", "check:.:unit", "review:.:read"}},
		"its input":  {func(s *scene) { s.write("part.txt", "other\n") }, []string{"check:.:part", "check:.:place", "check:.:shy", "check:.:unit", "review:.:read"}},
		"a variable": {func(s *scene) { s.env = append(s.env, "PLACE=here") }, []string{"check:.:place"}},
		"nothing":    {func(s *scene) { s.git("commit", "-q", "--allow-empty", "-m", "c") }, nil},
		"the base":   {func(s *scene) { s.git("update-ref", "refs/remotes/origin/main", "HEAD^{}") }, []string{"review:.:read"}},
		"a gate": {func(s *scene) {
			s.write(".gauntlet/config.yml", strings.Replace("cli:\n  default_preference: [claude]\n"+claimConfig, "inputs: [part.txt]", "inputs: [part.txt]\n        timeout: 9", 1))
		}, []string{"check:.:part", "check:.:place", "check:.:shy", "check:.:unit", "review:.:read"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newClaimScene(t)
			before := s.covers()
			change.make(s)
			s.commit()
			var changed []string
			for job, covers := range s.covers() {
				if before[job] != covers {
					changed = append(changed, job)
				}
			}
			slices.Sort(changed)
			if !slices.Equal(changed, change.of) {
				t.Errorf("%v, want %v", changed, change.of)
			}
		})
	}
}

// covers is what passes of all gates would cover now.
func (s *scene) covers() map[string]string {
	s.t.Helper()
	e := newExecution(s.options())
	v := &view{}
	must(s.t, e.look(s.t.Context(), v))
	prover, all := e.prover(v, v.tree), map[string]string{}
	for _, job := range e.plan.all() {
		all[job.ID()] = prover.covers(s.t.Context(), job)
	}
	return all
}

// A pass that proves nothing here is claimed nowhere.
func TestIssue19OnlyWhatIsProvenIsClaimed(t *testing.T) {
	s := newScene(t, "entry_points: [{path: ., checks: [{name: unit, command: 'echo x >x.$$; test ! -e bad'}, {name: lint, command: 'true'}]}]")
	s.write(".gitignore", "gauntlet_logs\n")
	s.commit()
	s.want(Passed) // and the tree has changed
	must(t, os.RemoveAll(s.path("x.1")))
	s.git("clean", "-q", "-f")
	if claimed := s.claimed(); claimed["check:.:unit"] != "" {
		t.Errorf("%v", claimed)
	}

	for name, dirty := range map[string]func(){
		"new":    func() { s.write("new.txt", "new\n") },
		"staged": func() { s.write("new.txt", "new\n"); s.git("add", ".") },
		"hidden": func() { s.git("update-index", "--skip-worktree", "base.txt"); s.write("base.txt", "other\n") },
	} {
		dirty()
		if _, err := ClaimsOf(t.Context(), s.options()); err == nil || !strings.Contains(err.Error(), "not committed: ") {
			t.Errorf("%s: %v", name, err)
		}
		s.git("update-index", "--no-skip-worktree", "base.txt")
		s.git("reset", "-q", "--hard")
		s.git("clean", "-q", "-f")
	}
}

// A pass elsewhere counts for its very gate, if that accepts it, and never for one that is red.
func TestIssue19AVoucherCountsForItsGate(t *testing.T) {
	s := newClaimScene(t)
	var vouched []Voucher
	for job, covers := range s.claimed() {
		vouched = append(vouched, Voucher{job, covers, "alice", s.now})
	}

	run := func(change func(o *Options), why ...string) map[string]Outcome {
		t.Helper()
		o := s.options()
		o.StateDir, o.Vouched = t.TempDir(), slices.Clone(vouched)
		change(&o)
		outcomes, r := map[string]Outcome{}, Execute(t.Context(), o)
		if got := notVouched(r); !slices.Equal(got, why) {
			t.Errorf("it says %q, want %q", got, why)
		}
		for _, g := range r.Gates {
			outcomes[g.Job] = g.Outcome
			if (g.Outcome == GateProven) != (g.AttestedBy == "alice") {
				t.Errorf("%+v", g)
			}
		}
		return outcomes
	}
	const git, cache = "check:.:history runs: it reads git", "check:.:fresh runs: it has cache: false"
	all := run(func(*Options) {}, git, cache)
	for job, outcome := range all {
		accepted := slices.Contains([]string{"check:.:unit", "check:.:part", "check:.:place", "review:.:read"}, job)
		if accepted != (outcome == GateProven) {
			t.Errorf("%s: %s", job, outcome)
		}
	}
	if len(all) != 7 {
		t.Fatalf("%v", all)
	}

	const differs, version = " runs: not the same here as where it was attested: ", "the gate's description (is it another version of stopgate?)"
	other := []string{
		"check:.:unit" + differs + version, "check:.:part" + differs + version,
		"check:.:place" + differs + "the value of PLACE, or what cat ../version 2>/dev/null || echo 1 prints", git, cache, "review:.:read" + differs + "the merge base",
	}
	for name, change := range map[string]struct {
		make func(o *Options)
		why  []string
	}{
		"of another gate": {func(o *Options) {
			for i := range o.Vouched {
				o.Vouched[i].Job = "check:.:other"
			}
		}, []string{"check:.:unit runs: it is not attested", "check:.:part runs: it is not attested", "check:.:place runs: it is not attested", git, cache, "review:.:read runs: it is not attested"}},
		"for something else": {func(o *Options) {
			for i := range o.Vouched {
				o.Vouched[i].Covers += "0"
			}
		}, other},
		"for nothing": {func(o *Options) {
			for i := range o.Vouched {
				o.Vouched[i].Covers = ""
			}
		}, other},
		"without reuse": {func(o *Options) { o.NoCache = true }, nil},
		"none":          {func(o *Options) { o.Vouched = nil }, nil},
	} {
		for job, outcome := range run(change.make, change.why...) {
			if outcome != GatePassed {
				t.Errorf("%s: %s %s", name, job, outcome)
			}
		}
	}
}

// A tree that cannot be read is a reason, too.
func TestIssue19AVoucherNeedsATreeThatCanBeRead(t *testing.T) {
	s := newClaimScene(t)
	o := s.options()
	o.Vouched = []Voucher{{"check:.:unit", s.covers()["check:.:unit"], "alice", s.now}}
	e, v := newExecution(o), &view{}
	must(t, e.look(t.Context(), v))
	v.unseen = errors.New("it is a pipe")
	unit := e.plan.all()[0]
	if _, vouched := e.vouched(t.Context(), v, e.prover(v, v.tree), unit); vouched || unit.ID() != "check:.:unit" {
		t.Errorf("%s is vouched for: %t", unit.ID(), vouched)
	}
	if why := e.notVouched(t.Context(), v, e.prover(v, v.tree), unit); why != "the working tree cannot be read: it is a pipe" {
		t.Errorf("it says %q", why)
	}
}

// notVouched is what a run says of gates that run although passes elsewhere are known.
func notVouched(r Result) (all []string) {
	for _, note := range r.Notes {
		if strings.Contains(note, " runs: ") {
			all = append(all, note)
		}
	}
	return all
}

// A gate that failed here has to pass here.
func TestIssue19AVoucherClosesNothing(t *testing.T) {
	s := newScene(t, `entry_points: [{path: ., checks: [{name: unit, command: 'test ! -e "$FLAG"', accept_proof: true}]}]`)
	flag := t.TempDir()
	s.write("new.txt", "new\n")
	s.commit()
	s.env = append(s.env, "FLAG="+flag)
	s.want(Failed)
	o := s.options()
	o.Vouched = []Voucher{{"check:.:unit", s.covers()["check:.:unit"], "alice", time.Now()}}
	r := Execute(t.Context(), o)
	wantResult(t, r, Failed)
	if got := notVouched(r); !slices.Equal(got, []string{"check:.:unit runs: it failed here before"}) {
		t.Errorf("it says %q", got)
	}

	// It is still asked, so that it can be closed.
	must(t, os.RemoveAll(flag))
	if r := Execute(t.Context(), o); len(r.Gates) != 1 || r.Gates[0].Outcome != GatePassed {
		t.Errorf("%+v", r.Gates)
	}
}
