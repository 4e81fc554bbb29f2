package gauntlet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// personMessage is the line that the person sees of a run that answers a stop; empty where there is
// nothing to tell. A block is shown by Claude Code itself.
func personMessage(r *Result, quiet bool) string {
	text := statusMessage(r, quiet)
	if text == "" {
		return plain.Line(strings.Join(r.Told, "; "))
	}
	return plain.Line(strings.Join(append([]string{text}, r.Told...), "; ")) // an error may name any path
}

func statusMessage(r *Result, quiet bool) string {
	switch {
	case r.Unjudged != "":
		return strings.Join(append([]string{"not checked: " + r.Unjudged}, r.Warnings...), "; ")
	case r.Status == Passed && quiet, r.Status == NoApplicableGates, r.Status == Unchanged, r.Status == Failed:
		return ""
	case r.Status == Passed:
		return passes(r)
	case r.Status == RetryLimitExceeded:
		return fmt.Sprintf("stop allowed although %s still fails: %d failed runs in a row reach the retry limit (`max_retries`). A person should look at it; `stopgate clean` resets the limit",
			names(r.with(GateFailed)), r.Failures)
	}
	return ofGates(r.Message)
}

// Sentence is the message as a person reads it: the older tool's hook answers with its own words.
func (r *Result) Sentence() string {
	text := r.inOwnWords(r.Message)
	switch {
	case text == r.Message:
		return text
	case r.Status == Failed:
		return text + "." // it begins with a gate, whose name is as it is
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// inOwnWords is a message of the result as stopgate says it, without a full stop.
func (r *Result) inOwnWords(message string) string {
	failed := r.with(GateFailed)
	switch {
	case len(failed) == 0 || message == "":
	case r.Status == Failed:
		return names(failed) + " failed"
	case r.Status == RetryLimitExceeded:
		return fmt.Sprintf("retry limit reached after %s (%s); reset it with `stopgate clean`", plain.Count(r.Failures, "failed run"), names(failed))
	}
	return ofGates(message)
}

// ofGates is a message in our own words: the older tool speaks of its gauntlet.
func ofGates(message string) string {
	if text, found := strings.CutPrefix(message, "Gauntlet: "); found {
		return strings.TrimSuffix(text, ".")
	}
	if text, found := strings.CutPrefix(message, "Gauntlet "); found {
		return "the gates " + strings.TrimSuffix(text, ".")
	}
	return message
}

// passes is a pass on one line: each gate, and how long they took.
func passes(r *Result) string {
	const most = 12
	var line strings.Builder
	for i := range r.Gates[:min(len(r.Gates), most)] {
		fmt.Fprintf(&line, "%s ✓ ", r.shortName(&r.Gates[i]))
	}
	if more := len(r.Gates) - most; more > 0 {
		fmt.Fprintf(&line, "and %d more ✓ ", more)
	}
	if len(r.with(GateProven)) == len(r.Gates) {
		return line.String() + "unchanged since " + pronoun(len(r.Gates)) + " passed"
	}
	return line.String() + fmt.Sprintf("%.1fs", r.Duration.Round(100*time.Millisecond).Seconds())
}

// pronoun stands for n gates.
func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "they"
}

// shortName is the gate's name, with its entry point where another gate has the same.
func (r *Result) shortName(g *GateResult) string {
	same := func(o GateResult) bool { return o.Name == g.Name && o.Job != g.Job }
	if slices.ContainsFunc(r.Gates, same) {
		return g.Entry + ":" + g.Name
	}
	return g.Name
}

// quiet reports whether the person does not want to hear of passes.
func quiet(global *config.Global, project *keeper.Project) bool {
	return global.Quiet || project.Config.Quiet
}
