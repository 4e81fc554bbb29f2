// Package notify tells a person something, away from the terminal.
package notify

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/process"
)

// Command runs the person's own command with the message as its argument. It
// is not waited for: a hook never waits for a notification. What it prints goes
// to logs/notify.log in the state directory.
func Command(command, message, stateDir string) error {
	logs := filepath.Join(stateDir, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	log, err := openLog(filepath.Join(logs, "notify.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	// A block of YAML ends with a newline, after which the message would be a
	// command of its own.
	script := strings.TrimSpace(command) + ` "$1"`
	message = strings.ReplaceAll(message, "\x00", "")
	return process.Detach(process.Shell(script, message), os.Environ(), log)
}

// openLog starts the log anew when it has grown large: it is for looking why
// the last message did not come.
func openLog(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > 1<<20 {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}
