package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// stop shows why a stop was allowed or blocked, gate by gate.
func (p *page) stop(stop *daemonapi.GateRun, log []string) {
	state := decided(stop)
	p.add(inState(state), fmt.Sprintf("%s %s at %s, in %s", symbolOf(state), line(state), plain.Clock(stop.Time, p.s.Now), exact(stop.DurationMS)))
	p.fact("why", stop.Headline)
	p.fact("project", stop.Project)

	for _, tree := range stop.Trees {
		if len(stop.Trees) > 1 || tree.Root != stop.Project {
			p.fact("tree", tree.Root)
		}
		p.fact("status", strings.TrimSuffix(tree.Status+": "+tree.Why, ": "))

		for _, gate := range tree.Gates {
			took := ""
			if gate.DurationMS > 0 {
				took = exact(gate.DurationMS)
			}
			text := fmt.Sprintf("  %-13s %-6s %s", line(strings.ReplaceAll(gate.Outcome, "_", " ")), took, line(gate.Job))
			p.add(inState(gate.Outcome), strings.TrimRight(text+"  "+line(gate.Why), " "))
			if gate.Outcome == "failed" && len(log) > 0 {
				for _, text := range log {
					p.add(faint, "      "+line(text))
				}
				log = nil // it is of the first one
			}
			if gate.Outcome == "failed" && gate.Log != "" {
				p.words(faint, "    log: ", gate.Log, 4)
			}
		}

		if tree.More > 0 {
			p.add(faint, fmt.Sprintf("  and %d that were skipped", tree.More))
		}
	}
}

// session shows Claude Code in tmux: its state, its last stop, its queue.
func (p *page) session(d *detail) {
	c := d.Session
	p.title("session " + c.Session)
	p.fact("state", c.State+", for "+ago(c.Since, p.s.Now))
	p.fact("pane", c.Pane)
	p.fact("attach", "tmux -S "+c.Socket+" attach -t "+c.Session)
	if d.Stop != nil {
		p.section("last stop in this pane")
		p.stop(d.Stop, d.GateLog)
	}
	if q := d.Queue; q != nil {
		p.section(fmt.Sprintf("queue: %d of %d done %s", q.Done, len(q.Commands), q.Ended))
		p.fact("why", cmp.Or(q.Why, q.Fault))
		for _, command := range q.Commands {
			p.add(nil, fmt.Sprintf("  %-8s %s  %s", line(command.Status), line(command.Command), line(command.Why)))
		}
	}
}

// newest is the newest of stops that fulfil a condition.
func newest(stops []daemonapi.GateRun, is func(*daemonapi.GateRun) bool) *daemonapi.GateRun {
	at := slices.IndexFunc(stops, func(stop daemonapi.GateRun) bool { return is(&stop) })
	if at < 0 {
		return nil
	}
	return &stops[at]
}
