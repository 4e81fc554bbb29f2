package status

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// completeLog has the shell complete what the flags of log take.
func completeLog(cmd *cobra.Command) {
	term.CompleteFlag(cmd, "event", func(context.Context) []string { return eventNames() })
	term.CompleteFlag(cmd, "decision", func(context.Context) []string { return decisions })
	term.CompleteFlag(cmd, "session", sessions)
}

// sessions are those of the journal with their projects, the latest first, without those that doctor
// plays.
func sessions(context.Context) []string {
	state, err := paths.StateDir()
	if err != nil {
		return nil
	}
	ids, projects := here.Sessions(state)
	ids = slices.DeleteFunc(ids, func(id string) bool { return strings.HasPrefix(id, doctor.SessionPrefix) })
	slices.Reverse(ids)
	for i, id := range ids {
		ids[i] = cobra.CompletionWithDesc(id, projects[id])
	}
	return ids
}
