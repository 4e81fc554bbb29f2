package plane

import (
	"fmt"
	"os"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// IsErrand recognises "stopgate errand [--terminal] DIR", which only the daemon calls: it
// is in no help.
func IsErrand(args []string) bool {
	return len(args) == 3 && args[1] == "errand" || len(args) == 4 && args[1] == "errand" && args[2] == "--terminal"
}

func RunErrand(args []string) int {
	run := errand.Run
	if len(args) == 2 {
		run = errand.RunInTerminal
	}
	if err := run(args[len(args)-1]); err != nil {
		fmt.Fprintf(os.Stderr, "stopgate: %v\n", err)
		return term.ExitFailed
	}
	return term.ExitOK
}
