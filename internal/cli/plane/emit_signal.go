package plane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// agentSignal is what an agent says about its work.
type agentSignal struct {
	kind    string
	message string
}

// signalForms is for an agent that said something else.
const signalForms = `write one of: complete, escalate, continue
or JSON: {"kind": "complete", "message": "…"}`

// longestMessage is more than anybody reads, and less than the daemon keeps.
const longestMessage = 64 << 10

// parseSignal understands a bare word, also in quotes, and a JSON object. Fields of
// the object that it does not know are left alone: what counts is that the agent is
// heard.
func parseSignal(text string) (agentSignal, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return agentSignal{}, errors.New("the signal is empty")
	}
	if !strings.HasPrefix(text, "{") {
		var word string
		if json.Unmarshal([]byte(text), &word) != nil {
			word = text
		}
		return checkSignal(agentSignal{kind: word})
	}
	var object struct {
		Kind, Action, Message *string
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&object); err != nil {
		return agentSignal{}, fmt.Errorf("the signal is no valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return agentSignal{}, errors.New("the signal has something behind its JSON object")
	}
	s := agentSignal{}
	switch {
	case object.Kind != nil && object.Action != nil && *object.Kind != *object.Action:
		return agentSignal{}, fmt.Errorf("the signal's kind is %q and its action %q", *object.Kind, *object.Action)
	case object.Kind != nil:
		s.kind = *object.Kind
	case object.Action != nil:
		s.kind = *object.Action
	default:
		return agentSignal{}, errors.New(`the signal has no "kind"`)
	}
	if object.Message != nil {
		s.message = *object.Message
	}
	return checkSignal(s)
}

func checkSignal(s agentSignal) (agentSignal, error) {
	s.kind = strings.ToLower(strings.TrimSpace(s.kind))
	if !slices.Contains([]string{"complete", "escalate", "continue"}, s.kind) {
		return agentSignal{}, fmt.Errorf("unknown signal %q", term.Cut(plain.Line(s.kind), 40))
	}
	if len(s.message) > longestMessage {
		return agentSignal{}, fmt.Errorf("the message has %d bytes; %d is the most", len(s.message), longestMessage)
	}
	return s, nil
}
