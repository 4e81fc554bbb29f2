package send

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/prose"
)

// output is what openclaw printed.
type output struct{ stdout, stderr []byte }

// embedded reports that openclaw did not reach its gateway and ran the agent by itself:
// in another session, so that the agent we mean knows nothing of it.
func (o output) embedded() bool {
	said := bytes.ToLower(o.stderr)
	if bytes.Contains(said, []byte("falling back to embedded")) || bytes.Contains(said, []byte("embedded fallback")) {
		return true
	}
	return o.has(func(object map[string]any) bool { return fellBack(object) })
}

// fellBack looks for a meta that tells of a fallback, however deep.
func fellBack(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["meta"].(map[string]any); ok {
			from, _ := meta["fallbackFrom"].(string)
			if meta["transport"] == "embedded" || from != "" {
				return true
			}
		}
		for _, inner := range v {
			if fellBack(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if fellBack(inner) {
				return true
			}
		}
	}
	return false
}

// inFlight reports that the gateway works on this message already.
func (o output) inFlight() bool {
	return o.has(func(object map[string]any) bool { return object["status"] == "in_flight" })
}

// delivered reports that there is the answer of an agent, for a program of which
// nothing else is known.
func (o output) delivered() bool {
	return o.has(func(object map[string]any) bool {
		_, ran := object["runId"].(string)
		return ran || object["status"] == "ok"
	})
}

// unknownAgent reports that a person has to put the agent's name right.
func (o output) unknownAgent() bool {
	return bytes.Contains(bytes.ToLower(o.stderr), []byte("unknown agent"))
}

// maxReason is how much of the output is looked at for a reason.
const maxReason = 64 << 10

// reason is what the program said last.
func (o output) reason() string {
	text := bytes.TrimSpace(o.stderr)
	if len(text) == 0 {
		text = bytes.TrimSpace(o.stdout)
	}
	lines := strings.Split(string(text[max(len(text)-maxReason, 0):]), "\n")
	return strings.Join(lines[max(len(lines)-reasonLines, 0):], "\n")
}

// has reports whether one of the JSON objects on standard output, also behind lines of a log, is
// of a kind.
func (o output) has(is func(map[string]any) bool) (found bool) {
	depth := 0
	s := prose.Scanner{
		Enter:  func() { depth++ },
		GiveUp: func() { depth = 0 },
		Leave: func(start, end int, _ bool) {
			if depth--; depth > 0 {
				return
			}
			var object map[string]any
			found = found || json.Unmarshal(o.stdout[start:end], &object) == nil && is(object)
		},
	}
	s.Scan(o.stdout)
	return found
}
