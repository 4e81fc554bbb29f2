package gates

import (
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// jobName is how people are told of a gate before it ended.
func jobName(job *gauntlet.Job) string { return nameOf(job.Kind, job.Gate().Name, job.Entry) }

// gateName is how people are told of a gate that ended.
func gateName(g *gauntlet.GateResult) string { return nameOf(g.Kind, g.Name, g.Entry) }

// nameOf leaves out what goes without saying: that a gate is a check, and that it
// looks at the whole project.
func nameOf(kind gauntlet.Kind, name, entry string) string {
	return plain.Line(stops.GateName(string(kind), name, entry))
}

func good(o gauntlet.Outcome) bool { return o == gauntlet.GatePassed || o == gauntlet.GateProven }

// Mark is one character for how a gate ended.
func Mark(p term.Paint, o gauntlet.Outcome) string {
	switch o {
	case gauntlet.GatePassed:
		return p.Green("✓")
	case gauntlet.GateProven:
		return p.Green("=")
	case gauntlet.GateFailed:
		return p.Red("✗")
	case gauntlet.GateNotStarted:
		return p.Faint("-")
	}
	return p.Yellow("!")
}

// unchanged is what people read of a gate that is proven.
const unchanged = "unchanged since it passed"

// outcomeWord is how a gate ended, in one or two words.
func outcomeWord(o gauntlet.Outcome) string {
	if o == gauntlet.GateProven {
		return string(gauntlet.Unchanged)
	}
	return strings.ReplaceAll(string(o), "_", " ")
}

// endWords say more about how a gate ended; nothing where it passed.
func endWords(g *gauntlet.GateResult) string {
	switch g.Outcome {
	case gauntlet.GatePassed:
		return ""
	case gauntlet.GateProven:
		if g.AttestedBy != "" {
			return plain.Line(g.Message)
		}
		return unchanged
	case gauntlet.GateCouldNotRun:
		return "could not run: " + plain.Line(g.Message)
	}
	return plain.Line(g.Message)
}

// took is how long a gate ran, where it did.
func took(g *gauntlet.GateResult) string {
	if g.Outcome == gauntlet.GateProven || g.Outcome == gauntlet.GateNotStarted {
		return ""
	}
	return term.Elapsed(g.Duration)
}
