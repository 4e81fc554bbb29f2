package gauntlet

import (
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// mostSkipped bounds the skipped gates that a record lists. An entry point such as packages/* can
// stand for thousands, and the journal takes no record over 1 MiB.
const mostSkipped = 200

// unaffected is why a gate was not asked although the changes were looked at.
const unaffected = "nothing that it checks has changed"

// notJudged is why a gate was not asked where the changes did not decide it.
func notJudged(why string) string { return "not judged: " + why }

// Record is what the journal keeps of a stop in a project: every gate of the configuration once,
// whether it was asked or not. It starts no process, and reads only the folders that entry
// points with a * name.
func (s *Stop) Record(r *Result) event.Tree {
	out := event.Tree{Root: s.Project.Root, Tree: r.Tree, Approval: s.Project.Approval, Status: string(r.Status), Since: r.since, Why: r.Unjudged}
	asked := map[string]bool{}
	sameAs := map[string]string{} // by job: the one that ran for it
	for i := range r.Gates {
		g := &r.Gates[i]
		out.Gates = append(out.Gates, g.record())
		asked[g.Job] = true
		if g.job == nil {
			continue
		}
		for _, other := range g.job.also {
			sameAs[other.ID()] = g.Job
		}
	}

	plan := planner{root: s.Project.Root, gates: s.Project.Gates, ci: inCI(s.Environ)}
	for _, gate := range plan.listed() {
		switch first := sameAs[gate.job]; {
		case asked[gate.job]:
			continue
		case len(out.Gates) >= len(r.Gates)+mostSkipped:
			out.More++
			continue
		case !plan.here(gate.gate):
			gate.why = "does not run here: " + plan.key() + " is false"
		case first != "":
			gate.why = "the same command in the same folder as " + first
		default:
			gate.why = r.whySpared()
		}
		out.Gates = append(out.Gates, event.Gate{Job: gate.job, Outcome: string(GateSkipped), Why: gate.why})
	}
	return out
}

// NotAsked is what the journal keeps of a project at a stop that is answered without its gates;
// nil where there are none.
func NotAsked(project *keeper.Project, global *config.Global, environ []string, why string) []event.Tree {
	if !gated(project, global) {
		return nil
	}
	stop := Stop{Options: Options{Project: project, Environ: environ}}
	return []event.Tree{stop.Record(&Result{Status: NotJudged, Unjudged: why})}
}

// whySpared is why a gate that is not in the result was not asked.
func (r *Result) whySpared() string {
	if r.Status == Unchanged && r.Unjudged == "" {
		return cmp.Or(r.spared, "nothing has changed")
	}
	return cmp.Or(r.spared, notJudged(cmp.Or(r.Unjudged, strings.ReplaceAll(string(r.Status), "_", " "))))
}

// record is what the journal keeps of a gate that was asked.
func (g *GateResult) record() event.Gate {
	const most = 300 // of what an error says
	out := event.Gate{Job: g.Job, Outcome: string(g.Outcome), DurationMS: g.DurationMS, Log: g.kept, Cost: g.Cost}
	if !g.start.IsZero() {
		out.StartMS = g.start.UnixMilli()
	}
	if g.Outcome != GatePassed {
		out.Why = plain.Cut(g.why(), most)
	}
	return out
}

// why is the gate's message without anything that a model wrote.
func (g *GateResult) why() string {
	if g.Kind == KindReview && g.Outcome == GateCouldNotRun {
		return "no reviewer could answer"
	}
	return g.Message
}

// listing is a gate of the configuration at one of its entries.
type listing struct {
	job, why string
	gate     *config.Gate
}

// listed lists every gate of the configuration at every entry, once, wherever it runs and whatever
// has changed.
func (p planner) listed() (all []listing) {
	if p.gates == nil {
		return nil
	}
	seen := map[string]bool{}
	add := func(kind Kind, entry string, gate *config.Gate) {
		if id := jobID(kind, entry, gate.Name); !seen[id] {
			seen[id] = true
			all = append(all, listing{job: id, gate: gate})
		}
	}
	for i := range p.gates.EntryPoints {
		ep := &p.gates.EntryPoints[i]
		for _, entry := range p.entries(ep) {
			for _, check := range ep.Checks {
				add(KindCheck, entry, &check.Gate)
			}
			for _, review := range ep.Reviews {
				add(KindReview, entry, &review.Gate)
			}
		}
	}
	return all
}

// key is the setting that keeps a gate from running where we are.
func (p planner) key() string {
	if p.ci {
		return "run_in_ci"
	}
	return "run_locally"
}
