// Package notify tells a person something, away from the terminal.
package notify

import (
	"strings"

	"github.com/stopgate/stopgate/internal/logfile"
	"github.com/stopgate/stopgate/internal/process"
)

// Command runs the person's own command in an environment, with the message as its
// argument. It is not waited for: a hook never waits for a notification. What it prints goes
// to logs/notify.log in the state directory.
func Command(command, message, stateDir string, environ []string) error {
	log, err := logfile.Open(stateDir, "notify.log")
	if err != nil {
		return err
	}
	defer log.Close()
	// A block of YAML ends with a newline, after which the message would be a
	// command of its own.
	script := strings.TrimSpace(command) + ` "$1"`
	message = strings.ReplaceAll(message, "\x00", "")
	return process.Detach(process.Shell(script, message), environ, log)
}
