package term

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// OnlyOne is the id that a person means by it or by a prefix of it: the only one that was found, or
// the one that it is in full. found has what each id is of. All commands refuse other ids in these
// words.
func OnlyOne(id string, found map[string]string, what, hint string) (string, error) {
	if _, exact := found[id]; exact {
		return id, nil
	}
	switch len(found) {
	case 0:
		return "", Unknown(what, id, hint)
	case 1:
		for only := range found {
			return only, nil
		}
	}

	var lines []string
	for one, words := range found {
		lines = append(lines, strings.TrimRight("  "+one+"  "+words, " "))
	}
	slices.Sort(lines)
	return "", Ambiguous(id, lines)
}

// Unknown refuses an id that nothing has.
func Unknown(what, id, hint string) error {
	return BadUsage(fmt.Errorf("there is no %s %s", what, Shown(cmp.Or(id, `""`))), hint)
}

// Ambiguous refuses a prefix that several ids have, a line each.
func Ambiguous(id string, lines []string) error {
	return BadUsage(fmt.Errorf("%s is ambiguous (%d matches)", Shown(id), len(lines)), strings.Join(lines, "\n"))
}
