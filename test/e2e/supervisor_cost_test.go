//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// cost is what a review cost, as the state, the journal and status have it.
type cost struct {
	USD          float64 `json:"usd"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
}

func (c cost) same(d cost) bool {
	return math.Abs(c.USD-d.USD) < 1e-9 && c.InputTokens == d.InputTokens && c.OutputTokens == d.OutputTokens
}

// billed is what the reviewers' own result lines say, one of each review.
func (b *bench) billed(session string) (each []cost, sum cost) {
	b.t.Helper()
	raw, err := os.ReadFile(b.claudeFile("ccc", "supervisor-"+session+"-output.jsonl"))
	check(b.t, err)
	for line := range bytes.Lines(raw) {
		var result struct {
			Type  string
			Cost  float64 `json:"total_cost_usd"`
			Usage cost
		}
		if err := json.Unmarshal(line, &result); err != nil {
			b.t.Fatalf("%v: %s", err, line)
		}
		if result.Type != "result" {
			continue
		}
		c := cost{result.Cost, result.Usage.InputTokens, result.Usage.OutputTokens}
		each = append(each, c)
		sum = cost{sum.USD + c.USD, sum.InputTokens + c.InputTokens, sum.OutputTokens + c.OutputTokens}
	}
	return each, sum
}

func TestWhatReviewsCostIsInView(t *testing.T) {
	t.Parallel()
	for name, install := range entryKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			b.Write(".gauntlet/config.yml", "hooks: {}\n") // status is of a project
			install(b)
			b.API.On(byReviewer, undone("Go on."), done)
			session := b.Run("do it").Reply().Session
			each, sum := b.billed(session)
			if len(each) != 2 || !(each[0].USD > 0) || each[0].OutputTokens == 0 {
				t.Fatalf("the reviewers' results say %+v", each)
			}

			var state struct {
				SessionID string `json:"session_id"`
				Count     int
				Spent     cost
			}
			b.readJSON(b.claudeFile("ccc", "supervisor-"+session+".json"), &state)
			if state.SessionID != session || state.Count != 2 || !state.Spent.same(sum) {
				t.Errorf("the state is %+v, the bill %+v", state, sum)
			}

			for i, line := range b.Stopgate("log", "--json", "--event", "Stop").mustPass(t).answered(t) {
				var answer struct{ Verdicts []struct{ Cost cost } }
				check(t, json.Unmarshal(line, &answer))
				if len(answer.Verdicts) != 1 || !answer.Verdicts[0].Cost.same(each[i]) {
					t.Errorf("the journal has %s, the bill %+v", line, each[i])
				}
			}

			var all []struct {
				Session           string `json:"session_id"`
				Reviews, Refusals int
				Spent             cost
			}
			out := b.Stopgate("supervisor", "status", "--json").mustPass(t)
			if err := json.Unmarshal([]byte(out.Stdout), &all); err != nil {
				t.Fatalf("%v: %s", err, out.Stdout)
			}
			if len(all) != 1 || all[0].Session != session || all[0].Reviews != 2 || all[0].Refusals != 1 || !all[0].Spent.same(sum) {
				t.Errorf("supervisor status: %s", out.Stdout)
			}
			if status := b.Stopgate("status").mustPass(t).Stdout; !strings.Contains(status, "$") || !strings.Contains(status, "2 reviews") {
				t.Errorf("status does not say what the reviews cost:\n%s", status)
			}
		})
	}
}

// readJSON reads a file that must be there.
func (b *bench) readJSON(path string, to any) {
	b.t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
}

// answered are the lines of a log that are answers.
func (o outcome) answered(t testing.TB) (lines [][]byte) {
	t.Helper()
	for _, line := range o.lines() {
		if strings.Contains(line, `"kind":"answered"`) {
			lines = append(lines, []byte(line))
		}
	}
	if len(lines) == 0 {
		t.Fatalf("no answers in %s", o.Stdout)
	}
	return lines
}

func TestNoReviewIsPaidForBeyondTheBudget(t *testing.T) {
	t.Parallel()
	for name, install := range entryKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(map[string]any{"max_cost_usd": 0.0000001})
			install(b)
			b.API.On(byReviewer, claudeapi.Always(undone("Go on.")))
			h := b.Start()
			for _, prompt := range []string{"one", "two"} {
				h.Send(prompt)
				h.WaitReply()
			}
			h.Close()
			b.wantReviews(1)
			b.wantSentBack("Go on.")
			b.wantAnswers("Stop", "block supervisor:not_completed", "allow supervisor:budget_spent", "allow supervisor:budget_spent")
			h.wantTold("max_cost_usd")
		})
	}
}

// The client offers no second stop of exactly the same work, but a person or a script may.
func TestSameWorkIsNotReviewedTwice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verdict claudeapi.Answer
		answer  string
	}{
		"complete":     {done, "allow supervisor:completed"},
		"not complete": {undone("Write a test for it."), "block supervisor:not_completed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Launcher(nil)
			entryKinds["hook"](b)
			b.Client = []string{"claude"} // not supervised: no review yet
			b.Run("write it")
			payload := b.WaitEvent("Stop").Raw
			b.API.On(byReviewer, tt.verdict, tt.verdict)
			stop := func() string {
				cmd := b.Command("stopgate", "hook", "Stop")
				cmd.Env = append(cmd.Env, "CCC_SUPERVISOR=1", "CLAUDE_PROJECT_DIR="+b.Project)
				cmd.Stdin = bytes.NewReader(payload)
				out, err := cmd.Output()
				check(t, err)
				return string(out)
			}
			first := stop()
			b.wantReviews(1)
			if second := stop(); second != first {
				t.Errorf("answered %q, then %q", first, second)
			}
			b.wantReviews(1)
			b.wantAnswers("Stop", "allow", tt.answer, tt.answer)

			b.Write("more.txt", "more\n")
			stop()
			b.wantReviews(2)
		})
	}
}
