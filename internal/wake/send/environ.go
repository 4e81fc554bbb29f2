package send

import (
	"strings"

	"github.com/stopgate/stopgate/internal/environ"
	"github.com/stopgate/stopgate/internal/wake"
)

// environ is the environment of a program that delivers a letter. The sender's own is
// that of a hook: a client which that program starts is no part of that session, and
// not in its pane.
func (s Sender) environ(l wake.Letter) []string {
	// A NUL would keep the program from starting.
	return append(environ.WithoutSession(s.Environ), "STOPGATE_MESSAGE_KEY="+strings.ReplaceAll(l.Key, "\x00", ""))
}
