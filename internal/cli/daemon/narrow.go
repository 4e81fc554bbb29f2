package daemon

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// narrow is which of a list a person wants to see.
type narrow struct {
	project string
	host    string
	since   time.Duration
	limit   int
}

// flags adds --project, --host, --since and --limit. what is listed is named with what happened to it.
func (n *narrow) flags(cmd *cobra.Command, what string, limit int, limits string) {
	cmd.Flags().StringVar(&n.project, "project", "", "list only those of the project in this directory")
	cmd.Flags().Var((*term.DurationFlag)(&n.since), "since", "list only "+what+" within this time, such as 30m or 3d")
	cmd.Flags().IntVar(&n.limit, "limit", limit, limits)
	_ = cmd.MarkFlagDirname("project") // the flag is there
	hostFlag(cmd, &n.host, "list only those on this machine of the fleet; . is the one you are on")
}

// check refuses what lists nothing, and finds the project.
func (n *narrow) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("limit") && n.limit < 1 {
		return term.BadUsage(fmt.Errorf("--limit %d: it must be at least 1", n.limit), "list all with: --all")
	}
	if n.project == "" {
		return nil
	}
	var err error
	n.project, err = projectAt(n.project)
	return err
}

// filter is what the daemon is asked for now.
func (n *narrow) filter() daemonapi.Filter {
	f := daemonapi.Filter{Project: n.project, Host: n.host, Limit: n.limit}
	if n.since > 0 {
		f.Since = time.Now().Add(-n.since)
	}
	return f
}
