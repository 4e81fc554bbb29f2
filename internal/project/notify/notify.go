// Package notify tells a person something, away from the terminal.
package notify

import (
	"strings"

	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Log is where what commands print goes, below logs in the state directory.
const Log = "notify.log"

// Command runs the person's own command in an environment, with the message as its
// argument. It is not waited for: a hook never waits for a notification. What it prints goes
// to logs/notify.log in the state directory.
func Command(command, message, stateDir string, environ []string) error {
	log, err := logfile.Open(stateDir, Log)
	if err != nil {
		return err
	}
	defer log.Close()
	return process.Detach(Args(command, message), environ, log)
}

// Args are the words that run the person's own command with a message.
func Args(command, message string) []string {
	// A block of YAML ends with a newline, after which the message would be a
	// command of its own.
	script := strings.TrimSpace(command) + ` "$1"`
	return process.Shell(script, strings.ReplaceAll(message, "\x00", ""))
}
