package ledger

import (
	"fmt"
	"testing"
	"time"
)

func proved(key string, now time.Time) Run {
	run := whole("A", gate(lint, Passed))
	run.Now, run.Gates[0].Key = now, key
	return run
}

func TestRuling123ProofsExpire(t *testing.T) {
	for age, want := range map[time.Duration]bool{
		0: true, 24*time.Hour - 1: true, 24 * time.Hour: false, 1000 * time.Hour: false,
		-1: false, // the clock jumped
	} {
		var s State
		s.Record(proved("key", noon))
		if _, got := s.Proof("key", noon.Add(age)); got != want {
			t.Errorf("after %v: proven %t", age, got)
		}
	}
}

func TestWhatProvesNothing(t *testing.T) {
	for _, result := range []Result{Failed, CouldNotRun, NotStarted, Proven} {
		var s State
		run := proved("key", noon)
		run.Gates[0].Result = result
		s.Record(run)
		if len(s.Proven) != 0 {
			t.Errorf("%s was kept as a proof", result)
		}
	}
	var s State
	s.Record(proved("", noon))
	if len(s.Proven) != 0 {
		t.Error("a pass without a key was kept as a proof")
	}
	if _, ok := s.Proof("", noon); ok {
		t.Error("nothing is proven")
	}
}

func TestAFailureTakesItsProofBack(t *testing.T) {
	var s State
	s.Record(proved("key", noon))
	run := proved("key", noon)
	run.Gates[0].Result = Failed
	s.Record(run)
	if _, ok := s.Proof("key", noon); ok {
		t.Error("it failed for the very key that it is proven for")
	}
}

// A proof of a gate that is not repeated does not get older by being used.
func TestUsingAProofDoesNotProlongIt(t *testing.T) {
	var s State
	s.Record(proved("key", noon))
	run := proved("key", noon.Add(23*time.Hour))
	run.Gates[0].Result = Proven
	s.Record(run)
	if _, ok := s.Proof("key", noon.Add(25*time.Hour)); ok {
		t.Error("it was prolonged")
	}
}

func TestProofsAreBounded(t *testing.T) {
	var s State
	for i := range maxProofs + 4 {
		s.prove(fmt.Sprint(i), Proof{At: noon.Add(time.Duration(i) * time.Second)})
	}
	s.Record(proved(fmt.Sprint(maxProofs+4), noon.Add(time.Hour)))
	now := noon.Add(time.Hour)
	if len(s.Proven) != maxProofs {
		t.Errorf("%d are kept", len(s.Proven))
	}
	for key, want := range map[string]bool{"4": false, "5": true, fmt.Sprint(maxProofs + 4): true} {
		if _, got := s.Proof(key, now); got != want {
			t.Errorf("%s: proven %t", key, got)
		}
	}
	s.Record(proved("late", noon.Add(48*time.Hour)))
	if len(s.Proven) != 1 {
		t.Errorf("%d are kept after two days", len(s.Proven))
	}
	s.Record(proved("past", noon))
	if _, kept := s.Proven["late"]; kept {
		t.Error("a proof from the future is kept")
	}
}
