package driver

import (
	"os"

	"github.com/stopgate/stopgate/internal/sys/logfile"
)

// Start starts a process of the program stopgate that delivers the session's active
// command. Nobody waits for it; what it says is in a log.
func Start(detach func(args, env []string, log *os.File) error, stateDir string, env []string, stopgate, session string) error {
	log, err := logfile.Open(stateDir, "driver.log")
	if err != nil {
		return err
	}
	defer log.Close()
	return detach([]string{stopgate, "queue", "drive", "--session", session}, env, log)
}
