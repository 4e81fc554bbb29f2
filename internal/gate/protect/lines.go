package protect

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// line is a line of a text, with its number, which counts from 1.
type line struct {
	number int
	text   string
}

// edit is a place where two texts differ: what the old one had there and what the new one
// has.
type edit struct{ removed, added []line }

func split(text string) []string {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare finds the places where two texts differ, in their order.
func compare(before, after string) []edit {
	a, b := split(before), split(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return edits(a[start:len(a)-end], b[start:len(b)-end], start)
}

// maxTable bounds the table that finds the longest common part: 2,000 lines against 2,000.
// Texts that differ more are one edit.
const maxTable = 4_000_000

// edits compares two texts that begin at the same line.
func edits(a, b []string, offset int) (all []edit) {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	number := func(lines []string, from, to int) (out []line) {
		for i := from; i < to; i++ {
			out = append(out, line{offset + i + 1, lines[i]})
		}
		return out
	}
	if len(a)*len(b) > maxTable {
		return []edit{{number(a, 0, len(a)), number(b, 0, len(b))}}
	}
	common := longest(a, b)
	i, j := 0, 0
	for _, pair := range append(common, [2]int{len(a), len(b)}) {
		if pair[0] > i || pair[1] > j {
			all = append(all, edit{number(a, i, pair[0]), number(b, j, pair[1])})
		}
		i, j = pair[0]+1, pair[1]+1
	}
	return all
}

// longest pairs the lines of the longest common subsequence.
func longest(a, b []string) (pairs [][2]int) {
	width := len(b) + 1
	table := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}

	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{i, j})
			i++
			j++
		case table[(i+1)*width+j] >= table[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// Diff shows how a text changed, in no more than so many lines: what was removed and what
// was added, each place with the number of its line.
func Diff(before, after string, most int) []string {
	var out []string
	for _, e := range compare(before, after) {
		for _, l := range e.removed {
			out = append(out, mark('-', l))
		}
		for _, l := range e.added {
			out = append(out, mark('+', l))
		}
	}
	if more := len(out) - most; more > 0 {
		out = append(slices.Clip(out[:most]), "… and "+plain.Count(more, "more line"))
	}
	return out
}
