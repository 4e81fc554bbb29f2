package document

import (
	"slices"
	"strconv"
	"testing"
)

// Entries that are not valid are left out, and a list of only those changes nothing.
func TestReadAll(t *testing.T) {
	even := New(func(v Value, to *int) bool {
		number, err := strconv.Atoi(v.Name)
		*to = number
		return err == nil && number%2 == 0
	}, nil)
	for _, test := range []struct {
		entries []string
		want    []int
	}{
		{nil, []int{7}},
		{[]string{"2", "3", "4"}, []int{2, 4}},
		{[]string{"1", "3"}, []int{7}},
	} {
		var items []Value
		for _, entry := range test.entries {
			items = append(items, Value{Name: entry})
		}
		to := []int{7}
		ReadAll(items, &to, even)
		if !slices.Equal(to, test.want) {
			t.Errorf("%v: %v, not %v", test.entries, to, test.want)
		}
	}
}
