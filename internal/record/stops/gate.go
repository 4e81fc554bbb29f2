package stops

import (
	"math"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
)

// gateKey names a gate: the same name in another project is another gate.
type gateKey struct{ root, job string }

// Gate is what the stops say of one gate.
type Gate struct {
	Root string `json:"root"`
	Job  string `json:"job"`

	Passed      int `json:"passed"` // it ran, and passed
	Failed      int `json:"failed"` // it ran, and failed; or was red and could not run
	CouldNotRun int `json:"could_not_run"`
	NotStarted  int `json:"not_started"`
	Proven      int `json:"proven"` // answered from a proof, without running

	// Caught are failures that were then fixed: the gate failed, in one run or in many, and then
	// passed for other content. Content that is not known counts as other content.
	Caught int `json:"caught"`
	// Flips are runs that ended otherwise than the gate's run before on the same content of the
	// tree and under the same approval: it passed where it had failed, or failed where it had
	// passed. Content that is not known never counts.
	Flips int `json:"flips"`
	// Red is set while its last run failed.
	Red bool `json:"red"`

	Last time.Time  `json:"last"` // when it was last asked
	Cost event.Cost `json:"cost,omitzero"`

	samples samples
	failed  content // what its last failure was about, while it is red
	seen    []sight // the latest contents that it ran on, the latest last
}

// content is what a gate ran on, under which configuration.
type content struct{ tree, approval string }

// sight is how a gate's last run on a content ended.
type sight struct {
	content
	passed bool
}

// mostSeen bounds the contents that a gate is remembered to have run on.
const mostSeen = 64

// add counts what became of the gate at a stop.
func (g *Gate) add(s *Stop, t *event.Tree, e *event.Gate) {
	g.Last = s.Time
	g.Cost = g.Cost.Plus(e.Cost)
	switch e.Outcome {
	case event.GatePassed:
		g.Passed++
	case event.GateFailed:
		g.Failed++
	case event.GateCouldNotRun:
		g.CouldNotRun++
		return
	case event.GateNotStarted:
		g.NotStarted++
		return
	case event.GateProven:
		g.Proven++
		return
	default:
		return
	}

	g.samples.add(e.DurationMS, e.Cost.USD, mostSamples)
	passed, on := e.Outcome == event.GatePassed, content{t.Tree, t.Approval}
	g.look(on, passed)
	if passed && g.Red && (on.tree == "" || on != g.failed) {
		g.Caught++
	}
	if g.Red = !passed; g.Red {
		g.failed = on
	}
}

// look notes how a run on a content ended.
func (g *Gate) look(on content, passed bool) {
	if on.tree == "" {
		return
	}
	if at := slices.IndexFunc(g.seen, func(s sight) bool { return s.content == on }); at >= 0 {
		if g.seen[at].passed != passed {
			g.Flips++
		}
		g.seen = slices.Delete(g.seen, at, at+1)
	}
	if g.seen = append(g.seen, sight{on, passed}); len(g.seen) > mostSeen {
		g.seen = g.seen[1:]
	}
}

// Runs is how often the gate ran to a result.
func (g *Gate) Runs() int { return g.Passed + g.Failed }

// Typical is the median duration of its latest runs; zero where it never ran.
func (g *Gate) Typical() time.Duration { return ms(median(g.samples.ms)) }

// Slowest is the longest of its latest runs.
func (g *Gate) Slowest() time.Duration {
	if len(g.samples.ms) == 0 {
		return 0
	}
	return ms(slices.Max(g.samples.ms))
}

// Saved is what answering from proofs has saved: how often, times the median of the gate's own
// runs.
func (g *Gate) Saved() Saving { return g.samples.saved(g.Proven) }

// Saving is what did not have to be done again.
type Saving struct {
	Times int           `json:"times"`
	Time  time.Duration `json:"-"`
	MS    int64         `json:"ms"`
	USD   float64       `json:"usd"`
	// Unknown are those of the times for which there is no run to compare with.
	Unknown int `json:"unknown,omitempty"`
}

// Plus is what both have saved.
func (s Saving) Plus(o Saving) Saving {
	return Saving{s.Times + o.Times, s.Time + o.Time, s.MS + o.MS, s.USD + o.USD, s.Unknown + o.Unknown}
}

// mostSamples bounds the runs that a median is taken of: the latest ones.
const mostSamples = 500

// longest is the most that a time.Duration holds, in milliseconds.
const longest = math.MaxInt64 / int64(time.Millisecond)

// samples are what the latest runs took.
type samples struct {
	ms  []int64
	usd []float64
}

// add adds what a run took, and forgets the oldest where there are too many.
func (s *samples) add(ms int64, usd float64, most int) {
	if len(s.ms) >= most {
		s.ms, s.usd = s.ms[1:], s.usd[1:]
	}
	s.ms, s.usd = append(s.ms, bounded(ms)), append(s.usd, event.Cost{USD: usd}.Plus(event.Cost{}).USD)
}

func (s *samples) saved(times int) Saving { return s.typical().saved(times) }

// typical is what one run takes.
func (s *samples) typical() typicalRun {
	return typicalRun{ms: median(s.ms), usd: median(s.usd), known: len(s.ms) > 0}
}

// typicalRun are the medians of some runs.
type typicalRun struct {
	ms    int64
	usd   float64
	known bool
}

func (r typicalRun) saved(times int) Saving {
	out := Saving{Times: times}
	if !r.known {
		out.Unknown = times
		return out
	}
	out.MS = min(r.ms, longest/int64(max(1, times))) * int64(times)
	out.Time, out.USD = ms(out.MS), r.usd*float64(times)
	return out
}

// median is the middle of some numbers, the lower one of two; zero where there are none.
func median[N int64 | float64](all []N) (none N) {
	if len(all) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
