package agent

import (
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// ConfigDir is where the Claude Code that a run starts keeps its settings and its transcripts.
// It is empty where nobody can tell.
func ConfigDir(run, cwd string, env []string) string {
	set, _, launched := runbook.Launch(run)
	getenv := func(name string) string { return environ.Get(env, name) }
	for _, a := range set {
		if a.Open {
			if rest, home := strings.CutPrefix(a.Value, "~/"); home {
				a.Value = paths.Home(getenv) + "/" + rest
			}
			a.Value = os.Expand(a.Value, getenv)
		}
		env = append(env[:len(env):len(env)], a.Name+"="+a.Value)
	}
	return paths.ClaudeDir(getenv, cwd, launched)
}
