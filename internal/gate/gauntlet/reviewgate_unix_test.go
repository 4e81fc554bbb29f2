//go:build unix

package gauntlet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

const oneReview = `cli:
  default_preference: [codex]
entry_points:
  - path: src
    exclude: ["**/*.gen"]
    reviews:
      - name: r
        prompt: look at it
`

// reviewed is a project whose reviewer says what the file answer holds, and keeps
// what it was asked.
func reviewed(t *testing.T, config string) *scene {
	s := newScene(t, config)
	s.answers()
	s.env = append(s.env, "ASKS="+s.state+"/asks")
	s.write("src/f.go", "bad\n")
	return s
}

// answers makes the reviewer that says what the file answer holds.
func (s *scene) answers() {
	s.program("codex", "cat >"+s.state+"/asked; echo x >>"+s.state+"/asks; cat "+s.state+"/answer")
}

func (s *scene) answer(text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.state, "answer"), []byte(text), 0o600))
}

func (s *scene) asked() string {
	text, _ := os.ReadFile(filepath.Join(s.state, "asked"))
	return string(text)
}

func violations(priority string, issues ...string) string {
	var list []map[string]any
	for _, issue := range issues {
		list = append(list, map[string]any{"file": "src/f.go", "line": 1, "issue": issue, "fix": "fix it", "priority": priority, "status": "new"})
	}
	text, _ := json.Marshal(map[string]any{"status": "fail", "violations": list})
	return "I looked at it.\n```json\n" + string(text) + "\n```\n"
}

const allGood = `{"status":"pass","message":"fine"}`

// edit changes what a review file says about its violations.
func edit(t *testing.T, path, status, result string) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	file, err := review.ParseFile(data)
	must(t, err)
	for i := range file.Violations {
		file.Violations[i].Status, file.Violations[i].Result = review.Standing(status), result
	}
	must(t, os.WriteFile(path, file.Encode(), 0o600))
}

func TestReviewFindsAndVerifies(t *testing.T) {
	s := reviewed(t, oneReview)
	s.write("src/x.gen", "generated")
	s.answer(violations("high", "it is bad"))
	r := s.want(Failed)
	if asked := s.asked(); !strings.Contains(asked, "+bad") || !strings.Contains(asked, "look at it") || strings.Contains(asked, "generated") {
		t.Errorf("asked\n%s", asked)
	}
	if len(r.Gates[0].Reviews) != 1 || !strings.HasSuffix(r.Gates[0].Reviews[0], "gauntlet_logs/review_src_r_codex@1.1.json") {
		t.Errorf("reviews %q", r.Gates[0].Reviews)
	}
	if !strings.Contains(Reason(&r, true), "src/f.go:1 - it is bad") {
		t.Errorf("the reason is\n%s", Reason(&r, true))
	}

	// Asking again verifies nothing while nothing changes.
	s.answer(allGood)
	r = s.want(Failed)
	edit(t, r.Gates[0].Reviews[0], "fixed", "fixed the whole thing")
	s.want(Failed)

	s.write("src/f.go", "good\n")
	s.want(Passed)
	if !strings.Contains(s.asked(), "fixed the whole thing") || !strings.Contains(s.asked(), "it is bad") {
		t.Errorf("the claim was not shown:\n%s", s.asked())
	}
	s.want(Passed, "unchanged since")
}

func TestReviewSkips(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("medium", "a matter of taste"))
	r := s.want(Failed)
	edit(t, r.Gates[0].Reviews[0], "skipped", "")
	r = s.want(Failed) // a skip needs a reason
	edit(t, r.Gates[0].Reviews[0], "skipped", "we like it so")
	r = s.want(PassedWithWarnings, "a matter of taste", "we like it so")
	if v := Verdict(&r); strings.Contains(v.Summary, "taste") || !strings.Contains(v.Summary, "review:src:r: 1 skipped") {
		t.Errorf("the journal gets %q", v.Summary)
	}
	s.want(PassedWithWarnings)

	// On a later tree the same complaint stays skipped.
	s.write("src/g.go", "more\n")
	s.want(PassedWithWarnings, "we like it so")

	// What is skipped spares no later tree its review.
	s.answer(violations("high", "quite another thing"))
	s.write("src/g.go", "worse\n")
	s.want(Failed)
}

func TestReviewCriticalIsForAPersonToSkip(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("critical", "it deletes everything"))
	r := s.want(Failed)
	edit(t, r.Gates[0].Reviews[0], "skipped", "never mind")
	s.want(Failed)
	if len(unsettled(s.ledger().Open[0].Violations)) != 1 {
		t.Error("the agent skipped a critical violation")
	}

	s = reviewed(t, oneReview+"violations:\n  skip_critical: anyone\n")
	s.answer(violations("critical", "it deletes everything"))
	r = s.want(Failed)
	edit(t, r.Gates[0].Reviews[0], "skipped", "never mind")
	s.want(PassedWithWarnings)
}

func TestReviewDamagedFileClosesNothing(t *testing.T) {
	for _, damage := range []string{"", "{", "[]", `{"status":"pass","violations":[]}`} {
		s := reviewed(t, oneReview)
		s.answer(violations("low", "it is bad"))
		r := s.want(Failed)
		must(t, os.WriteFile(r.Gates[0].Reviews[0], []byte(damage), 0o600))
		s.answer(allGood)
		s.want(Failed)
	}
}

func TestReviewLowPriorityStaysOpenUntilMended(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("low", "an old one"))
	s.want(Failed)
	s.write("src/f.go", "still bad\n")
	s.answer(violations("low", "an old one", "a new one"))
	r := s.want(Failed)
	if n := len(r.Gates[0].Violations); n != 1 || r.Gates[0].Violations[0].Issue != "an old one" {
		t.Errorf("open: %+v", r.Gates[0].Violations)
	}
}

func TestReviewerUnavailable(t *testing.T) {
	s := reviewed(t, oneReview)
	s.program("codex", "exit 3")
	s.want(InfrastructureError, "review:src:r")
	s.program("codex", "cat >/dev/null; cat "+s.state+"/answer")
	s.answer(violations("high", "it is bad"))
	s.want(Failed)
	s.program("codex", "exit 3")
	r := s.want(Failed)
	if len(s.ledger().Open[0].Violations) != 1 {
		t.Errorf("got %+v", r.Gates)
	}
}

// A reviewer that could not look has not seen the tree, so its violations can
// still be closed on it.
func TestReviewOutageDoesNotStampTheTree(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("high", "it is bad"))
	s.want(Failed)
	s.write("src/f.go", "good\n")
	s.program("codex", "exit 3")
	s.want(Failed)
	s.program("codex", "cat >/dev/null; cat "+s.state+"/answer")
	s.answer(allGood)
	s.want(Passed)
}

func TestReviewOfNothing(t *testing.T) {
	s := newScene(t, strings.Replace(oneReview, "path: src", "path: .", 1))
	s.program("codex", "exit 1")
	if err := os.Chmod(s.path("base.txt"), 0o755); err != nil { // changed, but there is nothing to read
		t.Fatal(err)
	}
	if r := s.run(); r.Status == Failed {
		t.Errorf("got %+v", r)
	}
}

const twoReviews = `cli:
  default_preference: [codex]
entry_points:
  - path: src
    reviews:
      - name: r
        prompt: look at it
        num_reviews: 2
        parallel: false
`

// turns are the reviewers' answers one after the other; "" is a reviewer that breaks.
func (s *scene) turns(answers ...string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.state, "turn"), nil, 0o600))
	script := "cat >" + s.state + "/asked; echo x >>" + s.state + "/turn\ncase $(wc -l <" + s.state + "/turn) in\n"
	for i, answer := range answers {
		script += strconv.Itoa(i+1) + ")"
		if answer == "" {
			script += " exit 3;;\n"
			continue
		}
		script += " cat <<'END'\n" + answer + "\nEND\n;;\n"
	}
	s.program("codex", script+"*) exit 4;;\nesac\n")
}

// A review that is cut off has failed if it was given less time than it needs, as when a check or a shorter timeout took
// it. One that had more waits for its provider, and one without a quota has said so: neither is about the work.
func TestE15AReviewThatIsCutOffHasFailed(t *testing.T) {
	const hangs = "exec sleep 600"
	for name, tt := range map[string]struct {
		before  time.Duration // how long it took; 0 where it never finished
		program string
		want    Status
	}{
		"starved":           {time.Minute, hangs, Failed},
		"never finished":    {0, hangs, InfrastructureError},
		"a slow provider":   {time.Millisecond, hangs, InfrastructureError},
		"a quota that ends": {time.Minute, "echo 'usage limit reached' >&2; exec sleep 600", InfrastructureError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reviewed(t, oneReview)
			job := &Job{Kind: KindReview, Entry: "src", Review: s.project().Gates.EntryPoints[0].Reviews[0]}
			if tt.before > 0 {
				ended := ledger.Finishes{job.ID(): {At: s.now, In: tt.before, Command: job.command()}}
				must(t, ledger.OpenHistory(s.state, s.root).Add(t.Context(), ended))
			}
			s.program("codex", tt.program)
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second) // a busy machine starts the reviewer in it
			defer cancel()
			if r := Execute(ctx, s.options()); r.Status != tt.want {
				t.Errorf("%s: %+v", r.Status, r.Gates)
			}
		})
	}
}

// A review that was cut off has not seen the tree: the next one closes what it finds fixed, on the same tree.
func TestE15AReviewThatIsCutOffJudgesNoTree(t *testing.T) {
	s := reviewed(t, oneReview)
	s.answer(violations("high", "it is bad"))
	s.want(Failed)
	s.write("src/f.go", "good\n")
	job := &Job{Kind: KindReview, Entry: "src", Review: s.project().Gates.EntryPoints[0].Reviews[0]}
	slow := ledger.Finishes{job.ID(): {At: s.now, In: time.Hour, Command: job.command()}}
	must(t, ledger.OpenHistory(s.state, s.root).Add(t.Context(), slow))
	s.program("codex", "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	if r := Execute(ctx, s.options()); r.Status != Failed || len(r.Gates[0].Violations) != 1 {
		t.Fatalf("%s: %+v", r.Status, r.Gates)
	}
	s.answers()
	s.answer(allGood)
	s.want(Passed)
}

// What one of two reviewers finds counts, though the other breaks.
func TestReviewThatOneOfTwoMadeFailsTheChange(t *testing.T) {
	for name, answers := range map[string][]string{
		"the first":  {violations("high", "it leaks"), ""},
		"the second": {"", violations("high", "it leaks")},
	} {
		s := reviewed(t, twoReviews)
		s.turns(answers...)
		s.want(Failed)
		if open := s.ledger().Open; len(open) != 1 || len(open[0].Violations) != 1 {
			t.Errorf("%s: open: %+v", name, open)
		}
	}
}

// Of two reviewers one has not looked. What was found before is not verified by the other alone, whatever
// that one says.
func TestReviewThatOneOfTwoDidNotMakeClosesNothing(t *testing.T) {
	for name, second := range map[string][]string{
		"the other passes":         {allGood, ""},
		"the first one breaks":     {"", allGood},
		"the other finds more":     {violations("high", "it leaks"), ""},
		"the other finds it again": {violations("high", "it is bad"), ""},
		"the first one is out":     {"", violations("critical", "it leaks")},
	} {
		t.Run(name, func(t *testing.T) {
			s := reviewed(t, twoReviews)
			s.turns(violations("high", "it is bad"), allGood)
			s.want(Failed)
			s.write("src/f.go", "perhaps good\n")
			s.turns(second...)
			if r := s.run(); r.Status == Passed || r.Status == PassedWithWarnings {
				t.Errorf("%s: %s", r.Status, r.Message)
			}
			var issues []string
			for _, failure := range s.ledger().Open {
				for _, v := range failure.Violations {
					issues = append(issues, v.Issue)
				}
			}
			if !slices.Contains(issues, "it is bad") {
				t.Errorf("open: %q", issues)
			}
			// Both look, on a tree that neither has seen: now it is verified.
			s.write("src/f.go", "good\n")
			s.turns(allGood, allGood)
			s.want(Passed)
		})
	}
}

// Without a base the reviewers are shown every file, which costs most: the person is told, wherever a
// review ran.
func TestReviewsWithoutABase(t *testing.T) {
	s := reviewed(t, oneReview+"    checks:\n      - {name: t, command: 'true', cache: false}\n")
	s.answer(allGood)
	const tells = "reviews saw every file: base origin/main not found"
	if r := s.want(Passed); slices.ContainsFunc(r.Told, func(text string) bool { return strings.Contains(text, "reviews saw") }) {
		t.Errorf("with a base: %q", r.Told)
	}
	s.git("update-ref", "-d", "refs/remotes/origin/main")
	r := s.want(Passed)
	if len(r.Told) != 1 || !strings.HasPrefix(r.Told[0], tells) {
		t.Errorf("told %q", r.Told)
	}
	if got := personMessage(&r, true); !strings.HasPrefix(got, tells) {
		t.Errorf("the person sees %q", got)
	}
	if r := s.want(Passed); len(r.Told) > 0 {
		t.Errorf("of reviews that did not run: %q", r.Told)
	}
	s.write("src/f.go", "other\n")
	o := s.options()
	o.Kind = KindCheck
	if r := Execute(t.Context(), o); len(r.Told) > 0 || len(r.Notes) != 1 {
		t.Errorf("of checks alone: %q, %q", r.Told, r.Notes)
	}
}
