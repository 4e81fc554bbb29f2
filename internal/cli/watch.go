package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// glances lie this far apart while somebody watches files.
const glances = 200 * time.Millisecond

// glimpse is something at one moment, for somebody who watches it.
type glimpse interface {
	// lines draw it on a screen of that size, whose lines they fit.
	lines(p paint, width, height int) []string
	// facts are lines for a pipe. They tell nothing that changes by itself, as ages do.
	facts() []string
	// json is what a program gets.
	json() any
	// over reports whether nothing more is going to change.
	over() bool
}

// dated is a glimpse that knows when each of its facts was, which may be before anybody
// watched.
type dated interface {
	times() []time.Time
}

// watch shows something again each time it changes, until it is over or ctx is done:
// in place on a screen, else in lines of what is new.
func watch(ctx context.Context, out io.Writer, asJSON bool, look func() (glimpse, error)) error {
	show := teller(out)
	switch file, ok := isScreen(out); {
	case asJSON:
		show = jsonTeller(out)
	case ok:
		show = newScreen(file).drawer(paintFor(out))
	}
	tick := time.NewTicker(glances)
	defer tick.Stop()
	for {
		seen, err := look()
		if err != nil {
			return err
		}
		if err := show(seen); err != nil || seen.over() {
			return err
		}
		select {
		case <-ctx.Done():
			return withCode(nil, exitInterrupted)
		case <-tick.C:
		}
	}
}

// drawer draws when there is something else to draw.
func (s *screen) drawer(p paint) func(glimpse) error {
	var drawn []string
	last := [2]int{}
	return func(w glimpse) error {
		width, height := s.size()
		lines := w.lines(p, width, max(1, height-1)) // the cursor is below them
		if size := [2]int{width, height}; size != last || !slices.Equal(lines, drawn) {
			s.draw(lines)
			drawn, last = lines, size
		}
		return nil
	}
}

// teller prints the facts that are new, with the time.
func teller(out io.Writer) func(glimpse) error {
	var told []string
	return func(w glimpse) error {
		facts := w.facts()
		for i, fact := range facts {
			if slices.Contains(told, fact) {
				continue
			}
			now := time.Now()
			at := now
			if w, ok := w.(dated); ok {
				at = w.times()[i]
			}
			if _, err := fmt.Fprintf(out, "%s  %s\n", clock(at, now), fact); err != nil {
				return err
			}
		}
		told = facts
		return nil
	}
}

// jsonTeller prints a line of JSON for each change.
func jsonTeller(out io.Writer) func(glimpse) error {
	var told []byte
	return func(w glimpse) error {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(w.json()); err != nil || bytes.Equal(text.Bytes(), told) {
			return err
		}
		told = text.Bytes()
		_, err := out.Write(told)
		return err
	}
}

// fit leaves out the lines that a screen has no room for.
func fit(lines []string, height int) []string {
	if len(lines) <= height {
		return lines
	}
	kept := max(0, height-1)
	return append(slices.Clip(lines[:kept]), fmt.Sprintf("… %d more", len(lines)-kept))
}

// clock is a time of today, or a time with its day.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// widthOf is how wide lines may be.
func widthOf(out io.Writer) int {
	file, ok := isScreen(out)
	if !ok {
		return math.MaxInt
	}
	width, _ := newScreen(file).size()
	return width
}
