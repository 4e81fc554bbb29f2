package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// heard is what the client makes of a hook's output. The rules are those of the
// real client, measured; TestE2E… hold them against it.
type heard struct {
	invalid string // an output that the client refuses or loses; empty when fine
	blocked bool
	reason  string
	message string
}

func listen(e Event, stdout []byte) heard {
	text := bytes.TrimSpace(stdout)
	if len(text) == 0 {
		return heard{}
	}
	if text[0] != '{' {
		return heard{invalid: "plain text: a block would be lost without a word"}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var out struct {
		Decision *string
		Reason   *string
		Message  *string `json:"systemMessage"`
		Continue *bool
		Specific *struct {
			Event      string `json:"hookEventName"`
			Permission string `json:"permissionDecision"`
			Reason     string `json:"permissionDecisionReason"`
			Decision   *struct{ Behavior, Message string }
		} `json:"hookSpecificOutput"`
	}
	if err := dec.Decode(&out); err != nil {
		return heard{invalid: err.Error()}
	}
	if dec.More() {
		return heard{invalid: "more than one object"}
	}
	h := heard{}
	if out.Message != nil {
		h.message = *out.Message
	}
	if out.Decision != nil {
		if *out.Decision != "block" && *out.Decision != "approve" {
			return heard{invalid: "decision " + *out.Decision}
		}
		if h.blocked = *out.Decision == "block"; h.blocked {
			if e.objection() != decisionBlock {
				return heard{invalid: "the event cannot be blocked so"}
			}
			if out.Reason == nil || strings.TrimSpace(*out.Reason) == "" {
				return heard{invalid: "a block without a reason"}
			}
			h.reason = *out.Reason
		}
	}
	if s := out.Specific; s != nil {
		if s.Event != string(e) {
			return heard{invalid: "hookEventName " + s.Event}
		}
		switch e {
		case PreToolUse:
			h.blocked, h.reason = s.Permission == "deny", s.Reason
		case PermissionRequest:
			if s.Decision == nil {
				return heard{invalid: "PermissionRequest without a decision"}
			}
			h.blocked, h.reason = s.Decision.Behavior == "deny", s.Decision.Message
		default:
			return heard{invalid: "nothing specific is known for " + s.Event}
		}
	}
	return h
}

func TestAnyAnswerIsOneTheClientUnderstands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.SampledFrom(append(Events(), "Brandnew")).Draw(t, "event")
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "\n", "\xff\xfe", "{", "</x>\u2028", "\x00"}))
		var answer Answer
		block := rapid.Bool().Draw(t, "block")
		reason := text.Draw(t, "reason")
		if block {
			answer = Block(event, reason)
		}
		told := rapid.SliceOfN(text, 0, 3).Draw(t, "messages")
		for _, message := range told {
			answer = answer.Tell(message)
		}
		out := answer.Bytes()
		h := listen(event, out)
		if h.invalid != "" {
			t.Fatalf("%s: %q", h.invalid, out)
		}
		if want := block && event.Blockable(); h.blocked != want || answer.Blocks() != want {
			t.Fatalf("blocked %t, want %t: %q", h.blocked, want, out)
		}
		clean := strings.TrimSpace(plain.Words(reason))
		if h.blocked && clean != "" && !strings.Contains(flat(h.reason), flat(clean)) {
			t.Fatalf("the reason %q arrived as %q", reason, h.reason)
		}
		if block && !event.Blockable() && h.message == "" {
			t.Fatal("the objection was lost")
		}
		for _, message := range told {
			if m := strings.TrimSpace(plain.Words(message)); !strings.Contains(flat(h.message), flat(m)) {
				t.Fatalf("the message %q is not in %q", message, h.message)
			}
		}
		if shown := h.reason + h.message; shown != plain.Words(shown) {
			t.Fatalf("on a terminal: %q", shown)
		}
		if len(out) > 0 && (out[len(out)-1] != '\n' || bytes.Count(out, []byte("\n")) != 1) {
			t.Fatalf("not one line: %q", out)
		}
	})
}

// flat removes replacement characters: how many stand for a run of bad bytes is
// nobody's concern.
func flat(s string) string { return strings.ReplaceAll(s, "\uFFFD", "") }

func TestSilenceIsTheZeroAnswer(t *testing.T) {
	if out := (Answer{}).Bytes(); out != nil {
		t.Errorf("%q", out)
	}
	if out := (Answer{}).Tell("  ").Bytes(); out != nil {
		t.Errorf("%q", out)
	}
}

func TestBytesOfABlock(t *testing.T) {
	for event, want := range map[Event]string{
		Stop:              `{"decision":"block","reason":"fix <it>"}`,
		SubagentStop:      `{"decision":"block","reason":"fix <it>"}`,
		PreToolUse:        `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"fix <it>"}}`,
		PermissionRequest: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"fix <it>"}}}`,
		SessionEnd:        `{"systemMessage":"fix <it>"}`,
	} {
		if got := string(Block(event, "fix <it>").Bytes()); got != want+"\n" {
			t.Errorf("%s: %s", event, got)
		}
	}
}

func TestInputOfATool(t *testing.T) {
	const input = `{"questions":[],"answers":{"Which <color>?":"Blue & \"red\""}}`
	const allowed = `"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":` + input + `}`
	for _, tt := range []struct {
		name   string
		answer Answer
		want   string
	}{
		{"alone", Answer{}.Input([]byte(input)), "{" + allowed + "}\n"},
		{"with a message", Answer{}.Tell("by rule").Input([]byte(input)), `{"systemMessage":"by rule",` + allowed + "}\n"},
		{"with a message after it", Answer{}.Input([]byte(input)).Tell("by rule"), `{"systemMessage":"by rule",` + allowed + "}\n"},
		{"an objection wins", Block(PreToolUse, "no").Input([]byte(input)), string(Block(PreToolUse, "no").Bytes())},
		{"none", Answer{}.Input(nil), ""},
		{"an objection to something else", Block(Stop, "no").Input([]byte(input)), string(Block(Stop, "no").Bytes())},
		{"taken back", Answer{}.Input([]byte(input)).Input(nil), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.answer.Bytes())
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			event := PreToolUse
			if tt.answer.event != "" {
				event = tt.answer.event
			}
			if h := listen(event, []byte(got)); h.invalid != "" || h.blocked != tt.answer.Blocks() {
				t.Errorf("the client hears %+v", h)
			}
		})
	}
}

func TestAPersonsAnswerToAPermissionRequest(t *testing.T) {
	const input = `{"answers":{"Which <color>?":"Blue"}}`
	specific := func(decision string) string {
		return `"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":` + decision + `}`
	}
	for _, tt := range []struct {
		name   string
		answer Answer
		want   string
	}{
		{"permitted", Answer{}.Permit(), "{" + specific(`{"behavior":"allow"}`) + "}\n"},
		{"with an input", Answer{}.Permit().Input([]byte(input)), "{" + specific(`{"behavior":"allow","updatedInput":`+input+`}`) + "}\n"},
		{"with a message", Answer{}.Tell("m").Permit(), `{"systemMessage":"m",` + specific(`{"behavior":"allow"}`) + "}\n"},
		{"denied", Answer{}.Tell("m").Deny("no"), `{"systemMessage":"m",` + specific(`{"behavior":"deny","message":"no"}`) + "}\n"},
		{"denied without a reason", Answer{}.Deny(" "), string(Block(PermissionRequest, "").Bytes())},
		{"denied after all", Answer{}.Permit().Deny("no"), string(Block(PermissionRequest, "no").Bytes())},
		{"an objection wins", Block(PermissionRequest, "no").Permit(), string(Block(PermissionRequest, "no").Bytes())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.answer.Bytes())
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if h := listen(PermissionRequest, []byte(got)); h.invalid != "" || h.blocked != tt.answer.Blocks() {
				t.Errorf("the client hears %+v", h)
			}
		})
	}
}

func TestParseAnswer(t *testing.T) {
	for text, want := range map[string]Printed{
		"":                                  {},
		" \n":                               {},
		"{}":                                {},
		`{"decision":"approve"}`:            {Decision: "approve"},
		`{"decision":"block","reason":"r"}`: {Decision: "block", Blocks: true, Reason: "r"},

		`{"decision":"block","reason":"r","systemMessage":7}`: {Decision: "block", Blocks: true, Reason: "r"},
		`{"systemMessage":"m"}`:                               {Message: "m"},

		`{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why"}}`:                            {Blocks: true, Reason: "why"},
		`{"reason":"r","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":" "}}`:                 {Blocks: true, Reason: "r"},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":""}}`: {},
		string(Block(Stop, "fix it").Tell("told").Bytes()):                                                                 {Decision: "block", Blocks: true, Reason: "fix it", Message: "told"},
		string(Block(PreToolUse, "not that").Bytes()):                                                                      {Blocks: true, Reason: "not that"},
	} {
		if got, err := ParseAnswer([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v (%v)", text, got, err)
		}
	}
	for _, text := range []string{"all is well", "[]", `{"decision":`, `"block"`} {
		if got, err := ParseAnswer([]byte(text)); err == nil || got != (Printed{}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
