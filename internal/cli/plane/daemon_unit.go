package plane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
)

// hasUnit reports whether systemd is to run the daemon of this state directory.
func hasUnit(getenv func(string) string) bool {
	path, err := UnitPath(getenv)
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
func (p *Plane) launchUnit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := systemctl(ctx, "start", unitName); err != nil {
		return unitFailed(fmt.Errorf("systemd could not start the daemon: %w", err))
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		_, err := p.Version(ctx)
		switch {
		case !IsDown(err):
			return err
		case systemctl(ctx, "is-active", "--quiet", unitName) != nil:
			return unitFailed(errors.New("systemd could not run the daemon"))
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return unitFailed(fmt.Errorf("the daemon was not ready after %s", term.Brief(startPatience)))
			}
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func unitFailed(err error) error {
	return term.WithCode(term.WithHint(err, "see why with: journalctl --user -u "+unitName), term.ExitCouldNotRun)
}

// hasManager reports whether systemd can be asked to run anything for this user: not so in
// a container, or in a shell that another user opened.
func hasManager(ctx context.Context) bool {
	return hasSystemctl() && systemctl(ctx, "show-environment") == nil
}
