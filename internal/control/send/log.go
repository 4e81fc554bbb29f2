package send

import (
	"cmp"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/sys/logfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// logTry writes what came of a try.
func (s Sender) logTry(t try, result string) {
	if t.note != "" {
		result += ": " + t.note
	}
	l := t.letter
	s.log("%s %s of session %q for %q by %s: %s", l.Key, l.Kind, l.Session, l.AgentID, cmp.Or(t.outside.Gateway.Transport, "no transport"), result)
}

// log writes one line. A log that cannot be written keeps no letter from its agent.
func (s Sender) log(format string, args ...any) {
	f, err := logfile.Open(s.StateDir, "wake.log")
	if err != nil {
		return
	}
	defer f.Close()
	line := s.now().UTC().Format(time.RFC3339) + " " + plain.Line(fmt.Sprintf(format, args...)) + "\n"
	_, _ = f.WriteString(line) // in one write, which others do not get into
}
