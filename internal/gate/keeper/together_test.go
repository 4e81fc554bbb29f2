package keeper

import "testing"

func TestTogetherIsTheWorst(t *testing.T) {
	passed := Verdict{Status: "passed", Message: "lint ✓"}
	missing := Verdict{Outcome: CouldNotRun, Status: "infrastructure_error", Message: "no linter", Summary: "b"}
	gaveUp := Verdict{Outcome: Failed, Status: "retry_limit_exceeded", Message: "gave up", Notify: true, Summary: "c"}
	waits := Verdict{Outcome: Failed, Status: "needs_person", NeedsPerson: true}
	blocks := Verdict{Outcome: Failed, Status: "failed", Reason: "fix it"}
	for _, tt := range []struct {
		all  []Verdict
		want Verdict
	}{
		{nil, Verdict{}},
		{[]Verdict{passed, missing}, Verdict{Outcome: CouldNotRun, Status: "infrastructure_error", Message: "lint ✓\nno linter", Summary: "b"}},
		{[]Verdict{gaveUp, missing, passed}, Verdict{Outcome: Failed, Status: "retry_limit_exceeded", Message: "gave up\nno linter\nlint ✓", Summary: "c; b", Notify: true}},
		{[]Verdict{gaveUp, waits}, Verdict{Outcome: Failed, Status: "needs_person", Message: "gave up", Summary: "c", Notify: true, NeedsPerson: true}},
		{[]Verdict{waits, blocks}, Verdict{Outcome: Failed, Status: "failed", Reason: "fix it", NeedsPerson: true}},
	} {
		got := Together(tt.all)
		if got.Outcome != tt.want.Outcome || got.Status != tt.want.Status || got.Reason != tt.want.Reason || got.Message != tt.want.Message ||
			got.Summary != tt.want.Summary || got.Notify != tt.want.Notify || got.NeedsPerson != tt.want.NeedsPerson {
			t.Errorf("got %+v\nwant %+v", got, tt.want)
		}
	}
}
