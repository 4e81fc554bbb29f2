package ledger

import (
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

func TestFindAndMark(t *testing.T) {
	var s State
	s.Record(whole("A",
		gate(quality, Failed, violation("abc1", review.New), violation("abd2", review.New)),
		gate("review:.:security", Failed, violation("ab", review.New), violation("f00d", review.New)),
	))
	for id, want := range map[string]string{
		"abc1": "abc1", "abc": "abc1", "abd": "abd2", "f": "f00d",
		"ab": "ab", // an id, though others begin so
		"a":  "", "": "", "x": "", "abc11": "",
	} {
		job, v, err := s.Violation(id)
		if v.ID != want || (err == nil) != (want != "") || (job != "") != (want != "") {
			t.Errorf("%q: got %q of %q, %v; want %q", id, v.ID, job, err, want)
		}
	}
	one := State{Open: s.Open[1:]}
	one.Open[0].Violations = one.Open[0].Violations[:1]
	if _, v, err := one.Violation(""); err == nil {
		t.Errorf("no id at all gives %+v", v)
	}
	before := s.Open[0].Violations
	s.Mark("abc1", review.Fixed, "did it")
	_, v, err := s.Violation("abc1")
	check(t, err)
	if v.Status != review.Fixed || v.Result != "did it" || before[0].Status != review.New {
		t.Errorf("got %+v, and who read before sees %+v", v, before[0])
	}
	if _, v, _ := s.Violation("abd2"); v.Status != review.New {
		t.Errorf("the other one is %+v", v)
	}
}
