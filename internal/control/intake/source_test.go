package intake

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	vars, defaults := []string{"n", "t"}, map[string]string{"t": "x"}
	got, err := Fit(map[string]string{"n": "1\xff", "other": "2"}, vars, defaults, false)
	if diff := cmp.Diff(map[string]string{"n": "1\uFFFD"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for want, values := range map[string]map[string]string{
		`the item has no "n"; it must have n`:        {"t": "1"},
		`the queue has no variable "m"; it has n, t`: {"n": "1", "m": "2"},
		"at most 32768":           {"n": strings.Repeat("x", maxVars+1)},
		`"n" contains a NUL byte`: {"n": "a\x00"},
	} {
		if _, err := Fit(values, vars, defaults, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestPortions(t *testing.T) {
	var items []map[string]string
	for range 250 {
		items = append(items, map[string]string{"n": "1"})
	}
	items = append(items, map[string]string{"n": strings.Repeat("x", maxVars)}, map[string]string{"n": "2"})
	var sizes []int
	for _, p := range Portions(items) {
		sizes = append(sizes, len(p))
	}
	if diff := cmp.Diff([]int{100, 100, 50, 1, 1}, sizes); diff != "" {
		t.Error(diff)
	}
	worst := Fact{Type: ItemAdded, Vars: map[string]string{"n": strings.Repeat("\x01", maxVars)}}
	if text, err := Encode(Step{Facts: []Fact{worst}}); err != nil || len(text) > 250<<10 {
		t.Error(len(text), err)
	}
}
