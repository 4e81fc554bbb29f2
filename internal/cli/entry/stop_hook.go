package entry

import (
	"context"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// newStopHook documents the command; Main runs it before the tree is built.
func NewStopHook() *cobra.Command {
	return &cobra.Command{
		Use:   "stop-hook",
		Short: "Answer a stop by the gates alone (payload on stdin, answer on stdout)",
		Long: `Answer the client's Stop hook by the gates alone. The answer is one JSON object on
one line for every outcome, with decision, status and message, and on a block
reason and stopReason.

Exit code: always 0.`,
		Example:               "  stopgate stop-hook < payload.json",
		DisableFlagsInUseLine: true,
		RunE:                  func(*cobra.Command, []string) error { return term.WithCode(nil, RunStopHook()) },
	}
}

func RunStopHook() int {
	service, err := newService()
	if err != nil {
		text, _ := json.Marshal("Stop hook error: " + err.Error()) // a string always encodes
		_, _ = os.Stdout.WriteString(`{"decision":"approve","status":"error","message":` + string(text) + `,"systemMessage":` + string(text) + "}\n")
		return term.ExitOK
	}
	reply := service.StopHook(context.Background(), os.Stdin)
	_, _ = os.Stdout.Write(reply.Stdout) // a client that is gone needs no answer
	return term.ExitOK
}
