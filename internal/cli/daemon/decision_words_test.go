package daemon

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

func TestSettledBy(t *testing.T) {
	for want, d := range map[string]daemonapi.Decision{
		"done":                      {Chosen: "done"},
		"nudge: use it":             {Chosen: "nudge", Message: "use it"},
		"Red; Monday, Tuesday":      {Answers: []string{"Red", "Monday, Tuesday"}},
		"words":                     {Answers: []string{"words"}, Message: "words"},
		"cancel: no answer in time": {Chosen: "cancel", Message: "no answer in time"},
		"Claude Code has started":   {Closed: "Claude Code has started"},
		"answered: only words, of an older daemon's": {Message: "only words, of an older daemon's"},
	} {
		if got := settledBy(&d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSpent(t *testing.T) {
	for _, test := range []struct {
		usd    float64
		tokens int64
		want   string
	}{{0, 0, ""}, {1.239, 0, "$1.24"}, {0, 9999, "9999 tokens"}, {0.001, 10_000, "$0.00, 10k tokens"}, {12, 9_999_999, "$12.00, 9999k tokens"}, {1, 25_000_000, "$1.00, 25M tokens"}} {
		if got := spent(test.usd, test.tokens); got != test.want {
			t.Errorf("%v, %d: %q", test.usd, test.tokens, got)
		}
	}
}
