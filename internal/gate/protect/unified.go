package protect

import "fmt"

// around is how many lines a unified diff shows before and after a change, as diff -u does.
const around = 3

// place is where an edit is in both texts, by lines from 0; what ends it is exclusive.
type place struct{ from, to, newFrom, newTo int }

// Unified is how a text changed, in the lines of a unified diff. Each begins with its sign: @ for the
// head of a hunk, a space, - or +. The rest is the text's own.
func Unified(before, after string) (out []string) {
	old, now := split(before), split(after)
	places := placesOf(compare(before, after))
	for len(places) > 0 {
		n := 1
		for n < len(places) && places[n].from-places[n-1].to <= 2*around {
			n++
		}
		out = append(out, hunk(old, now, places[:n])...)
		places = places[n:]
	}
	return out
}

// placesOf finds where edits are: an edit that only adds does not say where in the old text, nor one
// that only removes where in the new.
func placesOf(edits []edit) (places []place) {
	grown := 0 // lines that the new text has more, up to here
	for _, e := range edits {
		p := place{}
		if len(e.removed) > 0 {
			p.from = e.removed[0].number - 1
			p.newFrom = p.from + grown
		} else {
			p.newFrom = e.added[0].number - 1
			p.from = p.newFrom - grown
		}
		p.to, p.newTo = p.from+len(e.removed), p.newFrom+len(e.added)
		grown += len(e.added) - len(e.removed)
		places = append(places, p)
	}
	return places
}

// hunk shows places that are close together, with the lines around them.
func hunk(old, now []string, places []place) []string {
	first, last := places[0], places[len(places)-1]
	lead := min(around, first.from)
	tail := min(around, len(old)-last.to)
	out := []string{fmt.Sprintf("@@ -%s +%s @@", span(first.from-lead, last.to+tail), span(first.newFrom-lead, last.newTo+tail))}
	add := func(sign string, lines []string) {
		for _, l := range lines {
			out = append(out, sign+l)
		}
	}

	at := first.from - lead
	for _, p := range places {
		add(" ", old[at:p.from])
		add("-", old[p.from:p.to])
		add("+", now[p.newFrom:p.newTo])
		at = p.to
	}
	add(" ", old[at:at+tail])
	return out
}

// span is the part of a text in the notation of diff: where it begins, and how many lines it has. One
// without lines is named by the line before it.
func span(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
