package guard

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/process"
)

// denial is why a PreToolUse command denies the tool; empty when it does not. It
// may say so as the client's own hooks do: by exit code 2, or by JSON on
// standard output with any exit code.
func denial(r process.Result) string {
	if r.Err != nil || r.Canceled || r.TimedOut {
		return ""
	}
	if why, denied := deniedByJSON(r.Stdout); denied {
		return orElse(why, "a hook command of this project denied this tool call")
	}
	if r.Code == 2 {
		return orElse(r.Tail, "a hook command of this project denied this tool call")
	}
	return ""
}

func deniedByJSON(stdout []byte) (why string, denied bool) {
	stdout = bytes.TrimSpace(stdout)
	if len(stdout) == 0 || stdout[0] != '{' {
		return "", false
	}
	var out struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal(stdout, &out) != nil {
		return "", false
	}
	switch {
	case out.Specific.Decision == "deny":
		return orElse(out.Specific.Reason, out.Reason), true
	case out.Decision == "block":
		return out.Reason, true
	}
	return "", false
}

func orElse(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}
