package gauntlet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Note is what a person may not know of a configuration: it is valid, and checks less than it seems to.
type Note struct {
	Key  string // of the configuration
	Text string
	// Idle means that something is never judged, as things are.
	Idle bool
}

func (n Note) String() string { return n.Key + ": " + n.Text }

// Notes looks at a configuration beside the files that there are.
func Notes(ctx context.Context, project *keeper.Project, environ []string) (all []Note, err error) {
	tree := change.Open(project.Root, project.Config.Gauntlet.LogDir, "", environ, time.Now)
	files, err := tree.Files(ctx)
	if err != nil {
		return nil, err
	}

	for _, ep := range project.Gates.EntryPoints {
		if text := idle(ep, files); text != "" {
			all = append(all, Note{"entry_points", text, true})
		}
		for _, pattern := range ep.Exclude {
			if strings.HasPrefix(pattern, "!") {
				all = append(all, Note{"exclude", fmt.Sprintf("%s excludes everything else; unlike in a .gitignore, it makes no exception", plain.Name(pattern)), false})
			}
		}
	}

	all = append(all, loose(project.Gates.EntryPoints)...)
	if others := tree.OthersInLogs(ctx); len(others) > 0 {
		all = append(all, Note{"log_dir", fmt.Sprintf("git tracks %s in %s, such as %s; use a directory of its own for logs", plain.Count(len(others), "file"), plain.Name(project.Config.Gauntlet.LogDir), plain.Name(others[0])), false})
	}

	for _, job := range Jobs(project, environ) {
		for _, pattern := range tree.Unmatched(ctx, job.Gate().Inputs, job.home()) {
			all = append(all, Note{"inputs", fmt.Sprintf("no file matches %s of %s, so it runs every time", plain.Name(pattern), plain.Name(job.ID())), false})
		}
	}
	return all, nil
}

// loose are the checks whose command may pass although something is wrong.
func loose(entries []config.EntryPoint) (all []Note) {
	seen := map[*config.Check]bool{}
	note := func(check *config.Check, text string) {
		all = append(all, Note{"command", fmt.Sprintf("check %s %s", check.Name, text), false})
	}
	for _, ep := range entries {
		for _, check := range ep.Checks {
			if !seen[check] && onlyLastCounts(check.Command) {
				note(check, "passes if its last line does, whatever the lines above do; begin it with set -e")
			}
			if !seen[check] && overlooksNew(check.Command) {
				note(check, "looks only at files that git tracks; for new ones, give it an index of its own (docs/recipes/hook-managers.md)")
			}
			seen[check] = true
		}
	}
	return all
}

// idle is why none of the files leads to an entry point; empty where one does. Of an empty project nothing is said.
func idle(ep config.EntryPoint, files []string) string {
	switch {
	case ep.Path == "." && len(files) == 0, len(entriesFor(ep.Path, ep.Exclude, files)) > 0:
		return ""
	case len(entriesFor(ep.Path, nil, files)) > 0:
		return fmt.Sprintf("exclude leaves no file of %s, so its gates never run", plain.Name(ep.Path))
	}
	return fmt.Sprintf("no file matches %s, so its gates never run", plain.Name(ep.Path))
}
