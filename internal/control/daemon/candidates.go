package daemon

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func isConflict(err error) bool { return daemonapi.Code(err) == "conflict" }

// ownersLike are the owners whose ids begin so.
func (p *plane) ownersLike(prefix string) (lines []string) {
	for _, o := range p.core.owners() {
		if strings.HasPrefix(o.ID, prefix) {
			lines = append(lines, fmt.Sprintf("  %s  %s %s, %s", o.ID, daemonapi.KindWord(string(o.Kind)), plain.Line(o.Name), status(o)))
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
