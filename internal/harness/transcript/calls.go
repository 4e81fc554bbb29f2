package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Calls are the calls of tools in the end of a transcript of at most that size, by the agent or by a subagent: one a line, as
// they were written down, after the directories where they were made. What tools have answered and what people have said is not
// among them. A line that calls a tool and cannot be read is there as it is.
func Calls(path string, size int64) (calls []byte, err error) {
	text, err := Tail(path, size)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		for _, part := range callsIn(line) {
			calls = append(append(calls, bytes.TrimSuffix(part, []byte("\n"))...), '\n')
		}
	}
	return calls, nil
}

// callsIn are the calls in a line, after the directory where they were made.
func callsIn(line []byte) (parts [][]byte) {
	if !bytes.Contains(line, []byte(`tool_use"`)) {
		return nil // decoding takes longer
	}
	var e struct {
		CWD     string  `json:"cwd"`
		Message Message `json:"message"`
	}
	var blocks []json.RawMessage
	if json.Unmarshal(line, &e) != nil || json.Unmarshal(e.Message.Content, &blocks) != nil && !bytes.HasPrefix(e.Message.Content, []byte(`"`)) {
		return [][]byte{line} // half written, or of a client that we do not know
	}

	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) != nil || strings.HasSuffix(b.Type, "tool_use") {
			parts = append(parts, raw)
		}
	}
	if len(parts) > 0 && e.CWD != "" {
		where, _ := json.Marshal(map[string]string{"cwd": e.CWD}) // a text is always JSON
		parts = slices.Insert(parts, 0, where)
	}
	return parts
}
