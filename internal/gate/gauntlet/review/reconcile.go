package review

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/internal/project/config"
)

// Reconcile brings the violations on record together with those of a new
// review.
//
//   - open is what stays on record: every violation that the review found again,
//     with the ID and the priority that it had or a higher one; every new one; and
//     every skipped one, which stays skipped whether or not it was found again. On
//     the same tree it is all of previous: a reviewer that no longer sees what
//     nobody changed has not verified anything.
//   - closed is what a review of a later tree did not find again.
//   - dropped is what a review that verifies fixes found for the first time and
//     that matters less than threshold: fixing must come to an end. It never holds
//     anything of previous. A first review drops nothing.
func Reconcile(previous, found []Violation, sameTree bool, threshold config.Priority) (open, closed, dropped []Violation) {
	record, again, fresh := pair(previous, found)
	for i, v := range record {
		if again[i] || sameTree || v.Status == Skipped {
			open = append(open, v)
		} else {
			closed = append(closed, v)
		}
	}
	verifies := slices.ContainsFunc(previous, func(v Violation) bool { return v.Status != Skipped })
	for _, v := range fresh {
		if verifies && !v.Priority.AtLeast(threshold) {
			dropped = append(dropped, v)
		} else {
			open = append(open, v)
		}
	}
	return open, closed, dropped
}

// foundAgain is the violation as a later review sees it. A claim to have fixed
// it has turned out wrong.
func (v Violation) foundAgain(now Violation) Violation {
	v.Line = cmp.Or(now.Line, v.Line)
	if now.Priority.AtLeast(v.Priority) {
		v.Priority = now.Priority
	}
	if v.Status != Skipped {
		v.Status, v.Result = New, ""
	}
	return v
}

// pair brings the record up to date with what was found. again says which of it
// was reported again; fresh is what reports nothing on record, each once. An
// equal ID goes before a similar text, and of similar texts the most similar.
func pair(previous, found []Violation) (record []Violation, again []bool, fresh []Violation) {
	record, again = slices.Clone(previous), make([]bool, len(previous))
	var rest []Violation
	for _, v := range found {
		if i := withID(record, v.ID); i >= 0 {
			record[i], again[i] = record[i].foundAgain(v), true
		} else {
			rest = append(rest, v)
		}
	}
	for _, v := range rest {
		if i := mostSimilar(record, again, v); i >= 0 {
			record[i], again[i] = record[i].foundAgain(v), true
		} else if i := withID(fresh, v.ID); i >= 0 {
			fresh[i] = fresh[i].foundAgain(v)
		} else {
			fresh = append(fresh, v)
		}
	}
	return record, again, fresh
}

func withID(list []Violation, id string) int {
	return slices.IndexFunc(list, func(v Violation) bool { return v.ID == id })
}

// verySimilar is the share of words that two reports of one issue have in
// common. Two issues of one kind in one file ("no nil check in Login", "… in
// Logout") share up to three quarters.
const verySimilar = 0.8

// mostSimilar is which of the record, not yet found again, says about the same
// file what v says; -1 if none does.
func mostSimilar(record []Violation, again []bool, v Violation) int {
	best, most := -1, 0.0
	for i, old := range record {
		if again[i] || cleanPath(old.File) != cleanPath(v.File) {
			continue
		}
		if s := similarity(old.Issue, v.Issue); s >= verySimilar && s > most {
			best, most = i, s
		}
	}
	return best
}

// similarity is the share of words that two texts have in common, 1 at most.
func similarity(a, b string) float64 {
	left, right := vocabulary(a), vocabulary(b)
	common := 0
	for word := range left {
		if right[word] {
			common++
		}
	}
	return float64(common) / float64(len(left)+len(right)-common)
}

func vocabulary(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range words(text) {
		set[word] = true
	}
	return set
}
