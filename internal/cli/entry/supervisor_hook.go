package entry

import (
	"context"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// newSupervisorHook documents the command; Main runs it before the tree is built.
func NewSupervisorHook() *cobra.Command {
	return &cobra.Command{
		Use:   "supervisor-hook",
		Short: "Answer a stop by a second Claude's review alone (payload on stdin, answer on stdout)",
		Long: `Answer the client's Stop hook by the supervisor alone: a copy of the session looks
at the work and says whether it is complete. If it is not, the agent goes on with
its feedback. "stopgate claude" with CCC_SUPERVISOR=1 installs this hook.

Where "stopgate hook" is installed too, that has the stop reviewed, after the
gates, and this command answers {}.

Exit code: always 0.`,
		Example:               "  ccc supervisor-hook < payload.json",
		DisableFlagsInUseLine: true,
		RunE:                  func(*cobra.Command, []string) error { return term.WithCode(nil, RunSupervisorHook()) },
	}
}

// isSupervisorHook recognises "ccc supervisor-hook", whatever follows it: the
// client must get an answer.
func IsSupervisorHook(args []string) bool {
	if len(args) < 2 || args[1] != "supervisor-hook" {
		return false
	}
	return len(args) == 2 || args[2] != "-h" && args[2] != "--help"
}

func RunSupervisorHook() int {
	service, err := newService()
	if err != nil {
		text, _ := json.Marshal("stopgate: supervisor: " + err.Error()) // a string always encodes
		_, _ = os.Stdout.WriteString(`{"systemMessage":` + string(text) + "}\n")
		return term.ExitOK
	}
	reply := service.SupervisorHook(context.Background(), os.Stdin)
	_, _ = os.Stdout.Write(reply.Stdout) // a client that is gone needs no answer
	return term.ExitOK
}
