package term

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// glances lie this far apart while somebody watches files.
const glances = 200 * time.Millisecond

// glimpse is something at one moment, for somebody who watches it.
type Glimpse interface {
	// lines draw it on a screen of that size, whose lines they fit.
	Lines(p Paint, width, height int) []string
	// facts are lines for a pipe. They tell nothing that changes by itself, as ages do.
	Facts() []string
	// json is what a program gets.
	JSON() any
	// over reports whether nothing more is going to change.
	Over() bool
}

// Dated is a glimpse that knows when each of its facts was, which may be before anybody
// watched.
type Dated interface {
	Times() []time.Time
}

// watch shows something again each time it changes, until it is over or ctx is done:
// in place on a screen, else in lines of what is new.
func Watch(ctx context.Context, out io.Writer, asJSON bool, look func() (Glimpse, error)) error {
	show := Teller(out)
	switch file, ok := IsScreen(out); {
	case asJSON:
		show = JSONTeller(out)
	case ok:
		show = NewScreen(file).Drawer(PaintFor(out))
	}
	tick := time.NewTicker(glances)
	defer tick.Stop()
	for {
		seen, err := look()
		if err != nil {
			return err
		}
		if err := show(seen); err != nil || seen.Over() {
			return err
		}
		select {
		case <-ctx.Done():
			return WithCode(nil, ExitInterrupted)
		case <-tick.C:
		}
	}
}

// drawer draws when there is something else to draw.
func (s *Screen) Drawer(p Paint) func(Glimpse) error {
	var drawn []string
	last := [2]int{}
	return func(w Glimpse) error {
		width, height := s.Size()
		lines := w.Lines(p, width, max(1, height-1)) // the cursor is below them
		if size := [2]int{width, height}; size != last || !slices.Equal(lines, drawn) {
			s.Draw(lines)
			drawn, last = lines, size
		}
		return nil
	}
}

// teller prints the facts that are new, with the time.
func Teller(out io.Writer) func(Glimpse) error {
	var told []string
	return func(w Glimpse) error {
		facts := w.Facts()
		for i, fact := range facts {
			if slices.Contains(told, fact) {
				continue
			}
			now := time.Now()
			at := now
			if w, ok := w.(Dated); ok {
				at = w.Times()[i]
			}
			if _, err := fmt.Fprintf(out, "%s  %s\n", Clock(at, now), fact); err != nil {
				return err
			}
		}
		told = facts
		return nil
	}
}

// jsonTeller prints a line of JSON for each change.
func JSONTeller(out io.Writer) func(Glimpse) error {
	var told []byte
	return func(w Glimpse) error {
		text, err := rawjson.Marshal(w.JSON())
		if err != nil || bytes.Equal(text, told) {
			return err
		}
		told = text
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	}
}

// fit leaves out the lines that a screen has no room for.
func Fit(lines []string, height int) []string {
	if len(lines) <= height {
		return lines
	}
	kept := max(0, height-1)
	return append(slices.Clip(lines[:kept]), fmt.Sprintf("… %d more", len(lines)-kept))
}

// clock is a time of today, or a time with its day.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// widthOf is how wide lines may be.
func WidthOf(out io.Writer) int {
	file, ok := IsScreen(out)
	if !ok {
		return math.MaxInt
	}
	width, _ := NewScreen(file).Size()
	return width
}
