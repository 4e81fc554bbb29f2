package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Printed is an answer as a hook printed it: one of ours, or of a command that a person wrote.
type Printed struct {
	Decision string // as it was printed
	Blocks   bool
	Reason   string // may be blank
	Message  string // for the person
}

// ParseAnswer reads what a hook printed. Nothing at all lets the event pass.
func ParseAnswer(stdout []byte) (Printed, error) {
	stdout = bytes.TrimSpace(stdout)
	if len(stdout) == 0 {
		return Printed{}, nil
	}

	var out struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		Message  any    `json:"systemMessage"` // whatever it is, it takes nothing from a block
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		return Printed{}, err
	}

	message, _ := out.Message.(string)
	p := Printed{Decision: out.Decision, Blocks: out.Decision == "block", Reason: out.Reason, Message: message}
	if out.Specific.Decision == "deny" {
		p.Blocks = true
		if strings.TrimSpace(out.Specific.Reason) != "" {
			p.Reason = out.Specific.Reason
		}
	}
	return p, nil
}
