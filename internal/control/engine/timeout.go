package engine

import (
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// keepTimeout sets the timer for the end of the time that the step or its command has. It passes
// only while the owner is at work.
func (d *draft) keepTimeout() {
	left, limited := d.timeLeft()
	if !limited || !d.AtWork() || d.hasChildren() && d.Offspring.Leaving != nil {
		d.cancelTimer(timeout)
		return
	}
	d.keepTimer(timeout, max(left, 0))
}

// timeLeft is how long the step, or the command that runs, may go on.
func (d *draft) timeLeft() (left time.Duration, limited bool) {
	if d.Timeout > 0 {
		left, limited = d.Timeout-(d.Ran-d.Since), true
	}
	if s := d.Shell; s != nil && s.Timeout > 0 {
		if rest := s.Timeout - (d.Ran - s.Since); !limited || rest < left {
			left, limited = rest, true
		}
	}
	return left, limited
}

// timedOut ends what has run for too long. A clock that was put back, or a person who was waited
// for, has the timer set anew.
func (d *draft) timedOut() {
	left, limited := d.timeLeft()
	switch s := d.Shell; {
	case !limited || d.Status != Running || left > 0:
	case s != nil && s.Gate != "" && s.Timeout <= d.Ran-s.Since:
		d.endShell()
		d.shellExited(ShellExited{Key: s.Key, Code: -1, Tail: "timed out after " + plain.Duration(s.Timeout)})
	case s != nil && s.Gate == "":
		d.fail("timed out after " + plain.Duration(s.Timeout))
	default:
		d.fail("timed out after " + plain.Duration(d.Timeout))
	}
}
