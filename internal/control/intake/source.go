package intake

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What an item may have.
const (
	maxVars    = 32 << 10 // bytes of its values: six times as many in JSON, at worst
	maxPortion = 100
)

// Portions are items in portions that fit into an event of the store.
func Portions(items []map[string]string) (portions [][]map[string]string) {
	size := 0
	for i, item := range items {
		own := 0
		for name, value := range item {
			own += len(name) + len(value)
		}
		if size += own; i == 0 || size > maxVars || len(portions[len(portions)-1]) == maxPortion {
			portions, size = append(portions, nil), own
		}
		last := len(portions) - 1
		portions[last] = append(portions[last], item)
	}
	return portions
}

// Fit are the values of an item that a queue has variables for. Strict refuses others.
func Fit(values map[string]string, vars []string, defaults map[string]string, strict bool) (map[string]string, error) {
	fit, size := map[string]string{}, 0
	for _, name := range vars {
		value, given := values[name]
		if _, optional := defaults[name]; !given && !optional {
			return nil, fmt.Errorf("the item has no %q; it must have %s", name, strings.Join(required(vars, defaults), ", "))
		}
		if strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("%q contains a NUL byte", name)
		}
		if given {
			fit[name] = strings.ToValidUTF8(value, "\uFFFD")
		}
		size += len(value)
	}
	if size > maxVars {
		return nil, fmt.Errorf("the item has %d bytes; at most %d", size, maxVars)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strict && !slices.Contains(vars, name) {
			return nil, fmt.Errorf("the queue has no variable %q; it has %s", name, strings.Join(vars, ", "))
		}
	}
	return fit, nil
}

func required(vars []string, defaults map[string]string) (names []string) {
	for _, name := range vars {
		if _, optional := defaults[name]; !optional {
			names = append(names, name)
		}
	}
	return names
}
