package stops

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

const (
	// mostHours bounds the hours that a history holds, of all gates together. The oldest go first.
	mostHours = 100_000
	// hourSamples bounds the runs that are remembered of an hour.
	hourSamples = 24
)

// History counts what gates did by the hour, so that the last day, week or month can be told again
// and again without reading the journal: that costs as much as there are hours in it, however many stops
// they had. Stops are added in the order of the journal.
type History struct {
	Keep  time.Duration // hours that began earlier are forgotten
	gates map[gateKey]*pastGate
	hours int
}

// pastGate is a gate with its hours, the oldest first. The gate itself knows what came before: whether
// a run is a flip, or fixed what failed.
type pastGate struct {
	Gate
	hours []hour
}

// hour is what a gate did in an hour.
type hour struct {
	start time.Time
	counts
	samples samples
}

// counts are what can be added up.
type counts struct {
	Passed, Failed, CouldNotRun, NotStarted, Proven, Caught, Flips int
	Cost                                                           event.Cost
}

func countsOf(g *Gate) counts {
	return counts{g.Passed, g.Failed, g.CouldNotRun, g.NotStarted, g.Proven, g.Caught, g.Flips, event.Cost{}}
}

func (c *counts) add(d counts) {
	c.Passed += d.Passed
	c.Failed += d.Failed
	c.CouldNotRun += d.CouldNotRun
	c.NotStarted += d.NotStarted
	c.Proven += d.Proven
	c.Caught += d.Caught
	c.Flips += d.Flips
	c.Cost = c.Cost.Plus(d.Cost)
}

// since is what was added to earlier counts.
func (c counts) since(d counts) counts {
	return counts{
		c.Passed - d.Passed, c.Failed - d.Failed, c.CouldNotRun - d.CouldNotRun, c.NotStarted - d.NotStarted,
		c.Proven - d.Proven, c.Caught - d.Caught, c.Flips - d.Flips,
		event.Cost{},
	}
}

// Add counts a stop. A second call for the same stop counts for nothing.
func (h *History) Add(s *Stop) {
	if s.Adopted {
		return
	}
	s.Asked(func(tree *event.Tree, e *event.Gate) {
		if g := h.gate(tree.Root, e.Job); g != nil {
			h.note(g, s, tree, e)
		}
	})
	if h.hours > mostHours {
		h.Forget(s.Time.Add(-h.Keep / 2)) // half of the time is better than nothing
	}
}

func (h *History) note(g *pastGate, s *Stop, tree *event.Tree, e *event.Gate) {
	before := countsOf(&g.Gate)
	g.add(s, tree, e)
	g.samples = samples{} // those of the hours count
	at := g.hourOf(s.Time)
	if at == nil {
		h.hours++
		at = g.newHour(s.Time)
	}
	at.counts.add(countsOf(&g.Gate).since(before))
	at.Cost = at.Cost.Plus(e.Cost)
	if e.Outcome == event.GatePassed || e.Outcome == event.GateFailed {
		at.samples.add(e.DurationMS, e.Cost.USD, hourSamples)
	}
}

func (h *History) gate(root, job string) *pastGate {
	key := gateKey{root, job}
	g := h.gates[key]
	if g == nil && len(h.gates) < mostGates {
		if h.gates == nil {
			h.gates = map[gateKey]*pastGate{}
		}
		g = &pastGate{Gate: Gate{Root: root, Job: job}}
		h.gates[key] = g
	}
	return g
}

// hourOf finds the hour of a time, which is the newest, unless a clock was set back.
func (g *pastGate) hourOf(t time.Time) *hour {
	start := t.Truncate(time.Hour)
	for i := len(g.hours) - 1; i >= 0 && !g.hours[i].start.Before(start); i-- {
		if g.hours[i].start.Equal(start) {
			return &g.hours[i]
		}
	}
	return nil
}

func (g *pastGate) newHour(t time.Time) *hour {
	start := t.Truncate(time.Hour)
	at, _ := slices.BinarySearchFunc(g.hours, start, func(h hour, start time.Time) int { return h.start.Compare(start) })
	g.hours = slices.Insert(g.hours, at, hour{start: start})
	return &g.hours[at]
}

// Forget forgets the hours that began before a time, and gates that have no others.
func (h *History) Forget(before time.Time) {
	h.hours = 0
	for key, g := range h.gates {
		first := slices.IndexFunc(g.hours, func(one hour) bool { return !one.start.Before(before) })
		if first < 0 {
			delete(h.gates, key)
			continue
		}
		if first > 0 {
			g.hours = slices.Clone(g.hours[first:])
		}
		h.hours += len(g.hours)
	}
}

// Roots are the trees that gates were asked in.
func (h *History) Roots() (roots []string) {
	for key := range h.gates {
		roots = append(roots, key.root)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// Since are the gates that were asked since a time, by project and name, with what they did since then.
// Root and job leave out others, where they are not empty.
func (h *History) Since(t time.Time, root, job string) (gates []*Gate) {
	for key, g := range h.gates {
		if root != "" && key.root != root || job != "" && key.job != job {
			continue
		}
		if one := g.sinceTime(t); one != nil {
			gates = append(gates, one)
		}
	}
	slices.SortFunc(gates, byName)
	return gates
}

func (g *pastGate) sinceTime(t time.Time) *Gate {
	var sum counts
	out := &Gate{Root: g.Root, Job: g.Job, Red: g.Red, Last: g.Last}
	found := false
	for i := len(g.hours) - 1; i >= 0; i-- {
		one := &g.hours[i]
		if !one.start.Add(time.Hour).After(t) {
			break
		}
		found = true
		sum.add(one.counts)
		if len(out.samples.ms) < mostSamples { // the latest count
			out.samples.ms = append(out.samples.ms, one.samples.ms...)
			out.samples.usd = append(out.samples.usd, one.samples.usd...)
		}
	}
	if !found {
		return nil
	}
	out.Passed, out.Failed, out.CouldNotRun, out.NotStarted = sum.Passed, sum.Failed, sum.CouldNotRun, sum.NotStarted
	out.Proven, out.Caught, out.Flips, out.Cost = sum.Proven, sum.Caught, sum.Flips, sum.Cost
	return out
}

// Span is what gates did in a part of the time.
type Span struct {
	Start                  time.Time
	Passed, Failed, Proven int
	Typical                time.Duration // the median of the runs, where one gate is asked for
	Saved                  Saving
}

// Spans are n parts of the time since t, each as long as step, the oldest first. What a proof has saved is
// what the gate's runs since t took.
func (h *History) Spans(t time.Time, step time.Duration, n int, root, job string) []Span {
	spans, took := make([]Span, n), make([]samples, n)
	for i := range spans {
		spans[i].Start = t.Add(time.Duration(i) * step)
	}

	for key, g := range h.gates {
		if root != "" && key.root != root || job != "" && key.job != job {
			continue
		}
		whole := g.sinceTime(t)
		if whole == nil {
			continue
		}
		saves := whole.samples.typical()
		for k := range g.hours {
			one := &g.hours[k]
			i := int(one.start.Sub(t) / step)
			if one.start.Before(t) || i >= n {
				continue
			}

			spans[i].Passed += one.Passed
			spans[i].Failed += one.Failed
			spans[i].Proven += one.Proven
			spans[i].Saved = spans[i].Saved.Plus(saves.saved(one.Proven))
			if job != "" {
				took[i].ms = append(took[i].ms, one.samples.ms...)
			}
		}
	}

	for i := range spans {
		spans[i].Typical = ms(median(took[i].ms))
	}
	return spans
}
