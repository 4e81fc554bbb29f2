package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Commands lists what config.yml itself would run, quoted, in a fixed order.
func (p *Project) Commands() []string {
	var out []string
	for _, event := range hook.Events() {
		for _, command := range p.Hooks[event] {
			out = append(out, onEvent(command.Run, event))
		}
	}
	if runner := p.Gauntlet.StopHook.Runner; runner != nil {
		out = append(out, onEvent(strings.Join(runner, " "), hook.Stop))
	}
	return out
}

// Commands lists what the gates would run, in the order of the entry points. A
// gate that is in several of them is listed once.
func (g *Gates) Commands() []string {
	var out []string
	for _, e := range g.EntryPoints {
		for _, check := range e.Checks {
			out = append(out, onEvent(check.Command, hook.Stop))
			out = append(out, check.versions()...)
		}
		for _, review := range e.Reviews {
			out = append(out, "review "+plain.Name(review.Name)+" by "+plain.Line(strings.Join(review.CLIPreference, ", ")))
			out = append(out, review.versions()...)
		}
	}
	return unique(out)
}

func onEvent(command string, event hook.Event) string {
	return fmt.Sprintf("%q on %s", command, event)
}

// versions are the commands that a gate runs to see which tools it has.
func (g *Gate) versions() (out []string) {
	for _, tool := range g.Tools {
		out = append(out, fmt.Sprintf("%q for the version that %s depends on", tool, plain.Name(g.Name)))
	}
	return out
}

// unique drops repetitions and keeps the order.
func unique(list []string) (out []string) {
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
