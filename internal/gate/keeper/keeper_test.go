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

// A message that tells of another project says so, by a name that can do no harm on a screen.
func TestAboutAnotherProject(t *testing.T) {
	v := Verdict{Message: "m", Summary: "s", Reason: "r"}.About("/p\x1b[2J")
	if v.Message != `"/p\x1b[2J": m` || v.Summary != `"/p\x1b[2J": s` || v.Reason != "r" {
		t.Errorf("got %+v", v)
	}
	if v := (Verdict{}).About("/p"); v.Message != "" || v.Summary != "" {
		t.Errorf("got %+v of nothing", v)
	}
}
