package term

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// glances lie this far apart while somebody watches files.
const glances = 200 * time.Millisecond

// Glimpse is something at one moment, for somebody who watches it.
type Glimpse interface {
	// Lines draw it on a screen of that size, whose lines they fit.
	Lines(p Paint, width, height int) []string
	// Facts are lines for a pipe. They tell nothing that changes by itself, as ages do.
	Facts() []Fact
	// JSON is what a program gets.
	JSON() any
	// Over reports whether nothing more is going to change.
	Over() bool
}

// Fact is a line for a pipe, and when it came true, which may be before anybody watched; zero
// where only the moment of looking is known.
type Fact struct {
	Text string
	At   time.Time
}

// List is a glimpse of several things, which is never over.
type List[T any] struct {
	All  []T
	Fact func(*T) string
	Draw func(p Paint, width, height int) []string
}

// JSON implements Glimpse.
func (l List[T]) JSON() any { return l.All }

// Over implements Glimpse.
func (List[T]) Over() bool { return false }

// Lines implements Glimpse.
func (l List[T]) Lines(p Paint, width, height int) []string { return l.Draw(p, width, height) }

// Facts implements Glimpse.
func (l List[T]) Facts() []Fact {
	all := make([]Fact, len(l.All))
	for i := range l.All {
		all[i].Text = l.Fact(&l.All[i])
	}
	return all
}

// Once shows a glimpse without watching it: as JSON, or all of its lines.
func Once(out io.Writer, asJSON bool, g Glimpse) error {
	if asJSON {
		return PrintJSON(out, g.JSON())
	}
	return PrintLines(out, g.Lines(PaintFor(out), WidthOf(out), math.MaxInt))
}

// PrintLines prints lines as they are.
func PrintLines(out io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// Watch shows something again each time it changes, until it is over or ctx is done. It is for
// files, which are looked at from time to time.
func Watch(ctx context.Context, out io.Writer, asJSON bool, look func() (Glimpse, error)) error {
	v := NewViewer(out, asJSON)
	defer v.Close()
	tick := time.NewTicker(glances)
	defer tick.Stop()

	return v.Watch(look, func(Glimpse) error {
		select {
		case <-ctx.Done():
			return WithCode(nil, ExitInterrupted)
		case <-tick.C:
			return nil
		}
	})
}

// Viewer shows glimpses: in place on a screen, else in lines of what is new.
type Viewer struct {
	Show  func(Glimpse) error
	Renew func()           // has it drawn below what others print
	Frame <-chan time.Time // when to draw again what moves by itself; never but on a screen
	Close func()
}

// NewViewer shows glimpses there. Who makes it closes it.
func NewViewer(out io.Writer, asJSON bool) *Viewer {
	v := &Viewer{Show: Teller(out), Renew: func() {}, Close: func() {}}
	switch file, ok := IsScreen(out); {
	case asJSON:
		v.Show = JSONTeller(out)
	case ok:
		s := NewScreen(file)
		tick := time.NewTicker(FrameTime)
		v.Show, v.Renew = s.Drawer(PaintFor(out)), func() { s.Drawn = nil }
		v.Frame, v.Close = tick.C, tick.Stop
	}
	return v
}

// Watch looks and shows, and again after each wait, until what is seen is over.
func (v *Viewer) Watch(look func() (Glimpse, error), wait func(seen Glimpse) error) error {
	for {
		seen, err := look()
		if err != nil {
			return err
		}
		if err := v.Show(seen); err != nil || seen.Over() {
			return err
		}
		if err := wait(seen); err != nil {
			return err
		}
	}
}

// Drawer draws when there is something else to draw.
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

// Teller prints the facts that are new, with the time.
func Teller(out io.Writer) func(Glimpse) error {
	var known []string
	return func(w Glimpse) error {
		var seen []string
		for _, fact := range w.Facts() {
			seen = append(seen, fact.Text)
			if slices.Contains(known, fact.Text) {
				continue
			}
			now := time.Now()
			at := fact.At
			if at.IsZero() {
				at = now
			}
			if _, err := fmt.Fprintf(out, "%s  %s\n", Clock(at, now), fact.Text); err != nil {
				return err
			}
		}
		known = seen
		return nil
	}
}

// JSONTeller prints a line of JSON for each change.
func JSONTeller(out io.Writer) func(Glimpse) error {
	var known []byte
	return func(w Glimpse) error {
		text, err := rawjson.Marshal(w.JSON())
		if err != nil || bytes.Equal(text, known) {
			return err
		}
		known = text
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	}
}

// Fit leaves out the lines that a screen has no room for.
func Fit(lines []string, height int) []string {
	if len(lines) <= height {
		return lines
	}
	kept := max(0, height-1)
	return append(slices.Clip(lines[:kept]), fmt.Sprintf("… %d more", len(lines)-kept))
}

// Clock is a time of today, or a time with its day.
func Clock(t, now time.Time) string { return plain.Clock(t, now.Local()) }

// WidthOf is how wide lines may be.
func WidthOf(out io.Writer) int {
	file, ok := IsScreen(out)
	if !ok {
		return math.MaxInt
	}
	width, _ := NewScreen(file).Size()
	return width
}
