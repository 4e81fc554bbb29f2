package keeper

import "testing"

// Only a failure with a reason blocks; "could not run" says nothing about the
// work.
func TestBlocks(t *testing.T) {
	tests := []struct {
		verdict Verdict
		blocks  bool
		word    string
	}{
		{Verdict{}, false, "passed"},
		{Verdict{Outcome: Passed, Reason: "r"}, false, "passed"},
		{Verdict{Outcome: Failed}, false, "failed"},
		{Verdict{Outcome: Failed, Message: "m"}, false, "failed"},
		{Verdict{Outcome: Failed, Reason: "r"}, true, "failed"},
		{Verdict{Outcome: CouldNotRun, Reason: "r"}, false, "could_not_run"},
	}
	for _, tt := range tests {
		if got := tt.verdict.Blocks(); got != tt.blocks {
			t.Errorf("%+v: blocks %t", tt.verdict, got)
		}
		if got := tt.verdict.Outcome.String(); got != tt.word {
			t.Errorf("%+v is called %q", tt.verdict, got)
		}
	}
}
