package send

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// environ is the environment of a program that delivers a letter. The sender's own is
// that of a hook: a client which that program starts is no part of that session, and
// not in its pane.
func (s Sender) environ(l wake.Letter) []string {
	env := slices.DeleteFunc(environ.WithoutSession(s.Environ), func(entry string) bool {
		return strings.HasPrefix(entry, "CLAUDE_CODE_") // also what newer clients set
	})
	// A NUL would keep the program from starting.
	return append(env, "STOPGATE_MESSAGE_KEY="+strings.ReplaceAll(l.Key, "\x00", ""))
}
