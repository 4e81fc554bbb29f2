package hook

import "encoding/json"

// StatusLine is what Claude Code (2.1.197) writes to the standard input of a status line, as far as it
// matters here.
type StatusLine struct {
	SessionID string
	CWD       string
	Workspace struct {
		Current string `json:"current_dir"`
		Project string `json:"project_dir"`
	}
	Cost struct {
		USD float64 `json:"total_cost_usd"`
	}
}

// DecodeStatusLine reads the input. A field that is not what it should be counts as absent, so that a
// newer Claude Code still has a line.
func DecodeStatusLine(text []byte) (in StatusLine, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return StatusLine{}, false
	}
	for name, to := range map[string]any{"session_id": &in.SessionID, "cwd": &in.CWD, "workspace": &in.Workspace, "cost": &in.Cost} {
		_ = json.Unmarshal(fields[name], to)
	}
	return in, true
}
