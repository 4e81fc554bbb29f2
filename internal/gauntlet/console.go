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

// tags are the words that begin the lines of gates that ended.
var tags = map[Outcome]string{
	GatePassed:      "[PASS] ",
	GateProven:      "[PROVEN]",
	GateFailed:      "[FAIL] ",
	GateCouldNotRun: "[ERROR]",
	GateNotStarted:  "[SKIP] ",
}

func (c *console) finished(g *GateResult) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", tags[g.Outcome], g.Job)
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

// statusLines are the words for what a run ended with. The instructions for the
// agent name three of them.
var statusLines = map[Status]string{
	Passed:              "Passed",
	PassedWithWarnings:  "Passed with warnings",
	NoApplicableGates:   "No applicable gates",
	Failed:              "Failed",
	RetryLimitExceeded:  "Retry limit exceeded",
	InfrastructureError: "Error",
	Error:               "Error",
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
	c.say("Total: %d passed, %d proven, %d failed, %d could not run, %d not started",
		len(r.with(GatePassed)), len(r.with(GateProven)), len(r.with(GateFailed)), len(r.with(GateCouldNotRun)), len(r.with(GateNotStarted)))
	c.say("Status: %s", statusLines[r.Status])
	if r.Status != Passed {
		c.say("%s", r.Message)
	}
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }
