//go:build unix

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

const oneReview = `base_branch: main
cli:
  default_preference: [claude]
entry_points:
  - path: .
    reviews:
      - name: care
        prompt: Look for carelessness.
`

var (
	approval  = claudeapi.Structured(map[string]any{"status": "pass", "message": "Fine.", "violations": []any{}})
	objection = claudeapi.Structured(map[string]any{"status": "fail", "message": "Not fine.", "violations": []any{
		map[string]any{"file": "code.sh", "line": 1, "issue": "It deletes everything.", "fix": "Delete less.", "priority": "high", "status": "new"},
	}})
)

// byReviewer matches the requests of a client that reviews.
var byReviewer = claudeapi.WithTool("StructuredOutput")

// reviews are the requests of reviewers so far.
func (b *bench) reviews() (all []claudeapi.Request) {
	for _, r := range b.API.Requests() {
		if byReviewer(r) {
			all = append(all, r)
		}
	}
	return all
}

// careful is a bench with a review, and a hook of a person's own that leaves a
// line for each start and stop of a client in the project.
func careful(t *testing.T) (b *bench, clients runs) {
	b = newBench(t)
	clients = runs{filepath.Join(b.Tmp, "clients")}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "SessionEnd"} {
		b.ProjectHook(event, clients.counted("true"))
	}
	b.Gates(oneReview + verifying)
	return b, clients
}

func TestReviewerIsTheRealClient(t *testing.T) {
	t.Parallel()
	b, clients := careful(t)
	b.API.On(byReviewer, objection, approval)
	b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."),
		bash("echo rm -rf build > code.sh"), claudeapi.Text("Fixed."))
	h := b.Run("do it")
	if h.Code != 0 || h.Reply().Text != "Fixed." {
		t.Errorf("exit %d, %+v\n%s", h.Code, h.Reply(), h.Stderr)
	}
	b.wantFeedback("code.sh:1 - It deletes everything.")
	b.wantAnswers("Stop", "block gates:failed", "allow gates:passed")
	b.wantArchived("review_", "console.")

	reviews := b.reviews()
	if len(reviews) != 2 {
		t.Fatalf("%d reviews, want 2", len(reviews))
	}
	for i, holds := range [][]string{
		{"Look for carelessness.", "+++ b/code.sh\n", "\n+rm -rf /\n"},
		{"Look for carelessness.", "+++ b/code.sh\n", "\n+rm -rf build\n", "It deletes everything."},
	} {
		for _, text := range holds {
			if !strings.Contains(reviews[i].LastUserText(), text) {
				t.Errorf("review %d was not asked about %q", i+1, text)
			}
		}
		for _, tool := range []string{"Bash", "Write", "Edit", "Agent"} {
			if reviews[i].HasTool(tool) {
				t.Errorf("reviewer %d has %s", i+1, tool)
			}
		}
	}
	clients.want(t, 3) // one start, one prompt, one end: the agent's own
	b.wantAnswers("SessionStart", "allow")
}

func TestSkippedViolationIsAWarning(t *testing.T) {
	t.Parallel()
	b, _ := careful(t)
	b.API.On(byReviewer, objection)
	b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."),
		claudeapi.Func(skip), claudeapi.Text("Skipped."))
	h := b.Run("do it")
	b.wantAnswers("Stop", "block gates:failed", "allow gates:passed_with_warnings")
	h.wantTold("it is a joke")
	if n := len(b.reviews()); n != 1 {
		t.Errorf("%d reviews, want 1: nothing was left to verify", n)
	}
}

var reviewFile = regexp.MustCompile("Read `(.+\\.json)`")

// skip does what the reason tells the agent to do with a violation that it does
// not agree with.
func skip(r claudeapi.Request) claudeapi.Answer {
	found := reviewFile.FindStringSubmatch(r.LastUserText())
	if found == nil {
		return claudeapi.Text("I was told of no file.")
	}
	return bash(`sed -i.before 's/"status": "new"/"status": "skipped", "result": "it is a joke"/' ` + found[1])
}

func TestClaimOfAFixIsVerified(t *testing.T) {
	t.Parallel()
	b, _ := careful(t)
	b.API.On(byReviewer, objection, objection, approval)
	b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."),
		bash("echo 'rm -rf /*' > code.sh"), claudeapi.Text("Fixed, I say."),
		bash("echo rm -rf build > code.sh"), claudeapi.Text("Fixed."))
	b.Run("do it")
	b.wantFeedback("It deletes everything.", "It deletes everything.")
	b.wantAnswers("Stop", "block gates:failed", "block gates:failed", "allow gates:passed")
}

// A reviewer that no longer sees what nobody changed has verified nothing.
func TestReviewIsNotPassedByAskingAgain(t *testing.T) {
	t.Parallel()
	b, _ := careful(t)
	b.API.On(byReviewer, objection, approval, approval)
	b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."),
		claudeapi.Text("But it is."),
		bash("echo rm -rf build > code.sh"), claudeapi.Text("Fixed."))
	b.Run("do it")
	b.wantAnswers("Stop", "block gates:failed", "block gates:failed", "allow gates:passed")
}

func TestReviewerThatCannotAnswerDoesNotBlock(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]claudeapi.Answer{
		"an error of the API": claudeapi.Always(claudeapi.Error(400, "no")),
		"no answer":           claudeapi.Always(claudeapi.Text("I would rather not.")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := careful(t)
			b.API.On(byReviewer, answer)
			b.API.Script(bash("echo rm -rf / > code.sh"), claudeapi.Text("Finished."))
			h := b.Run("do it")
			b.wantAnswers("Stop", "allow gates:infrastructure_error")
			h.wantTold("no reviewer could answer")
		})
	}
}
