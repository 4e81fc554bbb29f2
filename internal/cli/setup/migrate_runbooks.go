package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/migrate"
	"github.com/stopgate/stopgate/internal/sys/process"
)

const (
	// maxCheck is what the report of a check may have: thousands of faults.
	maxCheck = 8 << 20
	// checkPatience is far more than the few milliseconds that a check takes.
	checkPatience = time.Minute
)

// checkRunbooks has stopgated check the runbooks of the project at root: reading them is too heavy for this
// program.
func checkRunbooks(root string) (check migrate.RunbookCheck, err error) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return check, err
	}
	result := process.Run(context.Background(), process.Command{
		Args: []string{program, "runbook", "check", "--json"}, Dir: root, Env: os.Environ(),
		Timeout: checkPatience, Lines: 1, KeepStdout: maxCheck,
	})
	if err := json.Unmarshal(result.Stdout, &check); err != nil {
		return check, term.CannotRun(fmt.Errorf("stopgated could not check the runbooks (%s): %s", result, result.Tail), "see: stopgate runbook check")
	}
	return check, nil
}
