package send

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/plain"
)

// maxLog is the size from which the log is started anew: it is for looking why the
// last letters did not arrive.
const maxLog = 1 << 20

// logTry writes what came of a try.
func (s Sender) logTry(t try, outcome string) {
	if t.note != "" {
		outcome += ": " + t.note
	}
	l := t.letter
	s.log("%s %s of session %q for %q by %s: %s", l.Key, l.Kind, l.Session, l.AgentID, cmp.Or(t.agent.Gateway.Transport, "nobody"), outcome)
}

// log writes one line. A log that cannot be written keeps no letter from its agent.
func (s Sender) log(format string, args ...any) {
	path := filepath.Join(s.StateDir, "logs", "wake.log")
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	line := s.now().UTC().Format(time.RFC3339) + " " + plain.Line(fmt.Sprintf(format, args...)) + "\n"
	_, _ = f.WriteString(line) // in one write, which others do not get into
}
