package cli

import (
	"fmt"
	"os"

	"github.com/stopgate/stopgate/internal/errand"
)

// isErrand recognises "stopgate errand DIR", which only the daemon calls: it is in no
// help.
func isErrand(args []string) bool { return len(args) == 3 && args[1] == "errand" }

func runErrand(dir string) int {
	if err := errand.Run(dir); err != nil {
		fmt.Fprintf(os.Stderr, "stopgate: %v\n", err)
		return exitFailed
	}
	return exitOK
}
