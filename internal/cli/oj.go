package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/entry"
	"github.com/stopgate/stopgate/internal/cli/status"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// oddjobs is the link name under which the program has only what is about pipelines and
// agents, by the names of the older tool.
const oddjobs = "oj"

// newOddjobs is the command tree under the name oj.
func newOddjobs() *cobra.Command {
	root := newTop(oddjobs)
	root.Short = "Runs pipelines and agents"
	root.Long = `oj runs the commands of a project's runbooks: pipelines and agents. It is stopgate under
another name; stopgate has the commands that are missing here.

Exit codes of all commands but emit: 0 done, 1 failed, 2 usage error or invalid runbook, 3 could
not run, 4 cancelled, 130 interrupted.`
	root.Example = `  oj run build
  oj pipeline list --watch
  oj decision resolve 9f8e7d6c 1`
	run := daemon.NewStart()
	schedule := daemon.NewSchedule()
	schedule.Aliases = []string{"cron"} // which it takes the place of
	root.AddCommand(run, daemon.NewPipeline(), daemon.NewAgent(entry.NewAgentHook()), daemon.NewDecision(), daemon.NewEmit(), daemon.NewRunbook(),
		daemon.NewQueue(), daemon.NewWorker(), schedule, daemon.NewWorkspace(), daemon.NewDaemon(), status.NewStatus(), status.NewLog(), newVersion())
	fitSystem(root)
	run.Use = strings.Replace(run.Use, "start", "run", 1)
	renameExamples(root)
	root.SetErr(oddjobsWriter{term.StreamTo(os.Stderr)})
	return root
}

// inOddjobs names those commands of a text as oj does that it has.
func inOddjobs(text string) string {
	pairs := []string{"stopgate: ", oddjobs + ": ", "stopgate start", "oj run", "stopgate decision answer", "oj decision resolve"}
	for _, name := range []string{"pipeline", "agent", "decision", "emit", "runbook", "worker", "schedule", "workspace", "daemon", "status", "log", "version"} {
		pairs = append(pairs, "stopgate "+name, oddjobs+" "+name)
	}
	pairs = append(pairs, "stopgate work add", "oj queue push", "stopgate work", "oj queue") // after worker and workspace
	return strings.NewReplacer(pairs...).Replace(text)
}

// oddjobsWriter has hints say what was called.
type oddjobsWriter struct{ out io.Writer }

func (w oddjobsWriter) Write(p []byte) (int, error) {
	_, err := io.WriteString(w.out, inOddjobs(string(p)))
	return len(p), err
}

// renameExamples has the examples say what was called.
func renameExamples(cmd *cobra.Command) {
	cmd.Example = inOddjobs(cmd.Example)
	for _, sub := range cmd.Commands() {
		renameExamples(sub)
	}
}
