package gauntlet

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// console writes what a run does, line by line, for people and for the log that
// an agent reads.
type console struct {
	mu sync.Mutex
	to []io.Writer
}

func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := fmt.Sprintf(format, args...) + "\n"
	for _, w := range c.to {
		_, _ = io.WriteString(w, line) // a console that is gone changes no verdict
	}
}

func (c *console) started(job *Job) { c.say("[START] %s", job.ID()) }

// tag is the word that begins the line of a gate that ended.
func (o Outcome) tag() string {
	switch o {
	case GatePassed:
		return "[PASS] "
	case GateProven:
		return "[PROVEN]"
	case GateFailed:
		return "[FAIL] "
	case GateCouldNotRun:
		return "[ERROR]"
	}
	return "[SKIP] "
}

func (c *console) finished(g *GateResult) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", g.Outcome.tag(), g.Job)
	if g.Duration > 0 {
		fmt.Fprintf(&b, " (%.2fs)", g.Duration.Seconds())
	}
	if g.Outcome != GatePassed && g.Message != "" {
		b.WriteString(" - " + g.Message)
	}
	if g.Outcome == GateFailed || g.Outcome == GateCouldNotRun {
		if g.Log != "" {
			b.WriteString("\n        Log: " + g.Log)
		}
		for _, file := range g.Reviews {
			b.WriteString("\n        Review: " + file)
		}
	}
	c.say("%s", b.String())
}

// line is the word for what a run ended with. The instructions for the agent name
// three of them.
func (s Status) line() string {
	switch s {
	case Passed:
		return "Passed"
	case PassedWithWarnings:
		return "Passed with warnings"
	case NoApplicableGates:
		return "No applicable gates"
	case Failed:
		return "Failed"
	case RetryLimitExceeded:
		return "Retry limit exceeded"
	}
	return "Error"
}

const rule = "────────────────────────────────────────"

func (c *console) summary(r *Result) {
	c.say("%s\nRESULTS SUMMARY\n%s", rule, rule)
	for i := range r.Gates {
		g := &r.Gates[i]
		if g.Outcome != GateFailed && g.Outcome != GateCouldNotRun {
			continue
		}
		c.say("%s: %s", g.Job, g.Message)
		if g.Tail != "" && g.Kind == KindCheck {
			c.say("%s", indent(g.Tail))
		}
		for _, v := range g.Violations {
			c.say("    %s", violationLine(v))
		}
	}
	for _, warning := range r.Warnings {
		c.say("warning: %s", warning)
	}
	c.say("Total: %d passed, %d unchanged, %d failed, %d could not run, %d not started", r.counts()...)
	c.say("Status: %s", r.Status.line())
	if r.Status != Passed {
		c.say("%s", r.Sentence())
	}
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
