package agent

import (
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/runbook"
)

// ConfigDir is where the client that a run starts keeps its settings and its transcripts.
// It is empty where nobody can tell.
func ConfigDir(run, cwd string, env []string) string {
	set, launched := runbook.Launch(run)
	for _, a := range set {
		if a.Open {
			if rest, home := strings.CutPrefix(a.Value, "~/"); home {
				a.Value = environ.Home(env) + "/" + rest
			}
			a.Value = os.Expand(a.Value, func(name string) string { return environ.Get(env, name) })
		}
		env = append(env[:len(env):len(env)], a.Name+"="+a.Value)
	}
	return paths.ClientDir(func(name string) string { return environ.Get(env, name) }, cwd, launched)
}
