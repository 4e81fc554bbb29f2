package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// hasUnit reports whether systemd is to run the daemon of this state directory.
func hasUnit(getenv func(string) string) bool {
	path, err := unitPath(getenv)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	state, err := otherStateDir(getenv)
	if err != nil {
		return false
	}
	const variable = "STOPGATE_STATE_DIR="
	if state == "" {
		return !strings.Contains(string(text), variable)
	}
	return strings.Contains(string(text), unitWord(variable+state))
}

// launchUnit has systemd start the daemon, and waits until that can be asked. systemd
// itself does not say when that is.
func (p *plane) launchUnit(ctx context.Context) error {
	if err := systemctl(ctx, "start", unitName); err != nil {
		return err
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		_, err := p.Version(ctx)
		switch {
		case !isDown(err):
			return err
		case systemctl(ctx, "is-active", "--quiet", unitName) != nil:
			return codeError{hintError{errors.New("systemd could not run the daemon"), fmt.Sprintf("see why with: journalctl --user -u %s", unitName)}, exitCouldNotRun}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
