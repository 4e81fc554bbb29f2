package daemon

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func isConflict(err error) bool { return daemonapi.Code(err) == "conflict" }

// ownersLike are the owners whose ids begin so.
func (p *plane) ownersLike(prefix string) (lines []string) {
	for _, o := range p.core.owners() {
		if strings.HasPrefix(o.ID, prefix) {
			lines = append(lines, fmt.Sprintf("  %s  %s %s, %s", o.ID, kindWord(o), plain.Line(o.Name), status(o)))
		}
	}
	return lines
}

// decisionsLike are the decisions whose ids begin so.
func (p *plane) decisionsLike(prefix string) (lines []string) {
	for _, o := range p.core.owners() {
		for _, d := range o.Decisions() {
			if strings.HasPrefix(d.ID, prefix) {
				lines = append(lines, fmt.Sprintf("  %s  %s, step %s (%s)", d.ID, plain.Line(o.Name), plain.Line(d.Step), d.Source))
			}
		}
	}
	return lines
}

// agentLine is an agent among others.
func agentLine(a *daemonapi.Agent) string {
	return fmt.Sprintf("  %s  agent %s, %s", a.ID, plain.Line(a.Name), a.Status)
}

func kindWord(o *engine.Owner) string {
	if o.Kind == engine.AgentRun {
		return "agent run"
	}
	return "pipeline"
}
