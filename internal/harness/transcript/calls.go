package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

// Calls are the calls of tools in the end of a transcript of at most that size, by the agent or by a subagent: one a line, as
// they were written down, after the directories where they were made. What tools have answered and what people have said is not
// among them. A line that calls a tool and cannot be read is there as it is.
func Calls(path string, size int64) (text []byte, err error) {
	all, err := Tail(path, size)
	if err != nil {
		return nil, err
	}
	add := func(part []byte) { text = append(append(text, bytes.TrimSuffix(part, []byte("\n"))...), '\n') }
	for line := range bytes.Lines(all) {
		cwd, calls, ok := callsIn(line)
		switch {
		case !ok:
			add(line)
		case len(calls) > 0 && cwd != "":
			where, _ := json.Marshal(map[string]string{"cwd": cwd}) // a text is always JSON
			add(where)
		}
		for _, one := range calls {
			add(one.raw)
		}
	}
	return text, nil
}

// toolCall is a tool that was called, and its text in the transcript.
type toolCall struct {
	hook.ToolUse
	raw []byte
}

// callsIn are the calls in a line, by the agent or by a subagent, and the directory where they were made; empty where the line
// does not say. ok is false for a line that may call a tool and cannot be read.
func callsIn(line []byte) (cwd string, calls []toolCall, ok bool) {
	if !bytes.Contains(line, []byte(`tool_use"`)) {
		return "", nil, true // decoding takes longer
	}
	var e struct {
		CWD     string  `json:"cwd"`
		Message Message `json:"message"`
	}
	if json.Unmarshal(line, &e) != nil {
		return "", nil, false // half written, or of a client that we do not know
	}
	if bytes.HasPrefix(e.Message.Content, []byte(`"`)) {
		return "", nil, true // a text calls none
	}

	var blocks []json.RawMessage
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		return "", nil, false
	}
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) != nil {
			return "", nil, false
		}
		if strings.HasSuffix(b.Type, "tool_use") {
			calls = append(calls, toolCall{hook.ToolUse{ToolName: b.Name, ToolInput: b.Input}, raw})
		}
	}
	return e.CWD, calls, true
}

// callsOthers reports whether a line calls a tool that may do more than read, the agent's own or one of its subagents.
func callsOthers(line []byte) bool {
	_, calls, ok := callsIn(line)
	return !ok || slices.ContainsFunc(calls, func(one toolCall) bool { return !Reads(one.ToolUse) })
}
