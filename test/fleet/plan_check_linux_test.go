package fleet

import (
	"slices"
	"testing"
)

// A seed decides all of a plan, and of a hundred faults each kind has its share.
func TestAPlanFollowsFromItsSeed(t *testing.T) {
	one := plan(7, 100, 3, 1)
	if !slices.Equal(one, plan(7, 100, 3, 1)) {
		t.Error("the same seed gives another plan")
	}
	if slices.Equal(one, plan(8, 100, 3, 1)) {
		t.Error("another seed gives the same plan")
	}
	kinds := map[kind]int{}
	for _, f := range one {
		kinds[f.kind]++
		if f.on == f.other || f.on < 0 || f.on > 2 || f.other < 0 || f.other > 2 {
			t.Errorf("%+v", f)
		}
	}
	for _, s := range shares {
		if kinds[s.kind] != s.of {
			t.Errorf("%s comes %d times, not %d", s.kind, kinds[s.kind], s.of)
		}
	}
	for _, f := range plan(7, 100, 3, 1, fullDisk, flipBit) {
		if f.kind == fullDisk || f.kind == flipBit {
			t.Errorf("%s was left out", f.kind)
		}
	}
}
