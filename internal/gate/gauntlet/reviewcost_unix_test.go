//go:build unix

package gauntlet

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
)

// What a reviewer says that it cost is in the result, in the verdict and in the journal; so is what one
// cost that gave no answer.
func TestWhatReviewsCost(t *testing.T) {
	s := newScene(t, strings.Replace(oneReview, "[codex]", "[claude]", 1)+"        num_reviews: 2\n")
	s.write("src/f.go", "bad\n")
	s.program("claude", `cat >/dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.25,"usage":{"output_tokens":7},"structured_output":{"status":"pass"}}'`)
	r := s.want(Passed)
	if cost := r.Gates[0].Cost; cost.USD != 0.5 || cost.OutputTokens != 14 {
		t.Errorf("two reviewers cost %+v", cost)
	}
	if v := Verdict(&r); v.Cost != r.Gates[0].Cost {
		t.Errorf("the verdict's cost is %+v", v.Cost)
	}
	if g := r.Gates[0].record(); g.Cost != r.Gates[0].Cost {
		t.Errorf("the journal's cost is %+v", g.Cost)
	}

	r = s.want(Passed)
	if cost := r.Gates[0].Cost; r.Gates[0].Outcome != GateProven || cost.USD != 0 {
		t.Errorf("%s for %+v", r.Gates[0].Outcome, cost)
	}

	s.write("src/f.go", "worse\n")
	s.program("claude", `cat >/dev/null; echo '{"type":"result","subtype":"error_max_turns","is_error":true,"total_cost_usd":0.125}'`)
	r = s.want(InfrastructureError)
	if cost := r.Gates[0].Cost; cost.USD != 0.25 {
		t.Errorf("without an answer: %+v", cost)
	}
}

// What a review found stays beside its log, for people who look at the stop later.
func TestIssue18FindingsAreKept(t *testing.T) {
	s := newScene(t, strings.Replace(oneReview, "[codex]", "[claude]", 1))
	s.write("src/f.go", "bad\n")
	s.program("claude", `cat >/dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"status":"fail","violations":[{"file":"src/f.go","line":1,"issue":"it is bad","fix":"make it good"}]}}'`)
	r := s.want(Failed)
	found, err := kept.Findings(s.state, r.Gates[0].record().Log)
	if err != nil || len(found) != 1 || found[0].Location() != "src/f.go:1" || found[0].Fix != "make it good" {
		t.Errorf("%+v %v", found, err)
	}
}
