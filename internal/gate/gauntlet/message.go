package gauntlet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// messageFor says in a sentence or two how a run ended.
func messageFor(r *Result) string { return describe(r, true) }

// describe is the message; without words it holds nothing that a command printed,
// or a model or an agent wrote.
func describe(r *Result, words bool) string {
	switch r.Status {
	case Passed:
		if proven := len(r.with(GateProven)); proven > 0 && proven == len(r.Gates) {
			since := "unchanged since the last pass"
			if slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.AttestedBy != "" }) {
				since += ", here or as attested"
			}
			return fmt.Sprintf("Gauntlet passed: %s %s, nothing had to run.", gates(proven), since)
		}
		return "Gauntlet passed: all gates completed."
	case PassedWithWarnings:
		return "Gauntlet passed with warnings: " + sentence(strings.Join(warnings(r, words), "; "))
	case NoApplicableGates:
		if r.Changed == 0 {
			return "Gauntlet: no applicable gates, because nothing has changed" + since(r) + "."
		}
		return "Gauntlet: no applicable gates for the files that changed."
	case Failed:
		return fmt.Sprintf("Gauntlet failed: issues must be fixed (%s).", names(r.with(GateFailed)))
	case RetryLimitExceeded:
		return fmt.Sprintf("Gauntlet retry limit exceeded after %d failing runs: %s. A person should look at it; `stopgate clean` (agent-gauntlet clean) resets the limit.",
			r.Failures, names(r.with(GateFailed)))
	case InfrastructureError:
		why := complaints(r.with(GateCouldNotRun, GateNotStarted), words)
		if r.Interrupted {
			why = "the run was interrupted"
		}
		return "Gauntlet could not run: " + sentence(why)
	case TerminationPassed:
		return "The external gauntlet reports that all gates passed."
	case TerminationWarnings:
		return "The external gauntlet passed with warnings: some issues were skipped."
	case TerminationRetryLimit:
		return "The external gauntlet's retry limit was exceeded; human review may be needed."
	}
	return string(r.Status)
}

// since names what changes are counted from.
func since(r *Result) string {
	if r.Base == "" || r.MergeBase == "" {
		return ""
	}
	return fmt.Sprintf(" since %s (%.7s)", r.Base, r.MergeBase)
}

func gates(n int) string {
	if n == 1 {
		return "1 gate is"
	}
	return fmt.Sprintf("%d gates are", n)
}

// names lists gates, the first few of them.
func names(results []GateResult) string {
	var ids []string
	for i := range results {
		ids = append(ids, results[i].shown())
	}
	return listed(ids)
}

func listed(ids []string) string {
	if len(ids) == 0 {
		return "see the console log"
	}
	return strings.Join(plain.Few(ids, 8), ", ")
}

// shown is the gate's id in a sentence. An agent chooses the names of folders: they begin no line, and no fence.
func (g *GateResult) shown() string { return strings.ReplaceAll(plain.Name(g.Job), "`", "'") }

// warnings are those of a result; without words, skips are only counted.
func warnings(r *Result, words bool) []string {
	if words {
		return r.Warnings
	}
	var out []string
	skips, first := map[string]int{}, map[string]int{}
	for _, w := range r.Warnings {
		job, _, skip := strings.Cut(w, skipped)
		if skip && skips[job] == 0 {
			first[job] = len(out)
			out = append(out, "")
		}
		if skip {
			skips[job]++
			out[first[job]] = fmt.Sprintf("%s: %d skipped", job, skips[job])
			continue
		}
		out = append(out, w)
	}
	return out
}

// skipped stands in a warning between the job and the violation.
const skipped = ": skipped "

func complaints(results []GateResult, words bool) string {
	var out []string
	for _, r := range results {
		why := r.Message
		if !words {
			why = r.why()
		}
		out = append(out, r.shown()+": "+why)
	}
	return strings.Join(plain.Few(out, 4), "; ")
}

// sentence ends a text with a full stop, on one line.
func sentence(text string) string {
	return strings.TrimRight(oneLine(text), ". ") + "."
}

// unavailable is the result when something that a run needs is missing.
func unavailable(what string) Result {
	r := said(InfrastructureError, "Gauntlet could not run: "+sentence(what))
	r.spared = notJudged(what)
	return r
}
