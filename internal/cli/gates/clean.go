package gates

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

func NewClean() *cobra.Command {
	return &cobra.Command{
		Use:   "clean",
		Short: "Archive old logs and reset the retry count",
		Long: `Move the logs of earlier runs into previous/ in the log directory, and reset the retry
count. Open failures stay open until they pass. In an agent's shell only the logs are
archived; the retry count stays.

Exit code 0: done, or nothing to do. 2: no project here. 3: another run is in progress.`,
		Example: `  stopgate clean`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := here.MustExist(here.FindHere())
			if err != nil {
				return err
			}
			return clean(h, cmd)
		},
	}
}

func clean(h *here.Place, cmd *cobra.Command) error {
	logDir := LogDir(h, cmd.ErrOrStderr())
	agent := environ.Agent(os.Environ())
	moved, err := gauntlet.Clean(cmd.Context(), h.StateDir, h.Root, logDir, agent == "", time.Now())
	var held *logdir.HeldError
	switch {
	case errors.As(err, &held):
		return term.CannotRun(fmt.Errorf("nothing was cleaned: another run is in progress (%s)", held.Owner), "wait for it to finish, then try again")
	case err != nil:
		return term.WithCode(fmt.Errorf("clean: %w", err), term.ExitCouldNotRun)
	}
	out := term.Prose(cmd.OutOrStdout())
	if moved {
		fmt.Fprintf(out, "Logs archived successfully to %s.\n", path.Join(logDir, "previous"))
	} else {
		fmt.Fprintf(out, "No logs to archive in %s.\n", logDir)
	}
	if agent != "" {
		fmt.Fprintf(out, "The retry count stays: only a person can reset it (%s is set).\n", agent)
		return nil
	}
	fmt.Fprintln(out, "The retry count is reset; open failures stay open until they pass.")
	return nil
}

// LogDir is where the project's logs are. Cleaning runs nothing of a project, so
// it needs neither approval nor a valid configuration: without one the logs are
// where they are by default.
func LogDir(h *here.Place, errOut io.Writer) string {
	project, _, err := h.Gates()
	if err == nil {
		return project.Config.Gauntlet.LogDir
	}
	fmt.Fprintf(errOut, "stopgate: no configuration is in force (see: stopgate validate); cleaning the default log directory %s\n", DefaultLogDir)
	return DefaultLogDir
}

// DefaultLogDir is log_dir where the configuration cannot say.
const DefaultLogDir = "gauntlet_logs"
