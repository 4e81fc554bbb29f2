package gauntlet

import "testing"

func TestToldOfAPassThatIsProven(t *testing.T) {
	proven := func(name string) GateResult {
		return GateResult{Job: "check:.:" + name, Name: name, Entry: ".", Outcome: GateProven}
	}
	for want, gates := range map[string][]GateResult{
		"test ✓ unchanged since it passed":          {proven("test")},
		"lint ✓ test ✓ unchanged since they passed": {proven("lint"), proven("test")},
	} {
		if got := personMessage(&Result{Status: Passed, Gates: gates}, false); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}
