package daemon

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
	data    string // JSON
}

// misspelt is an error with the forms that a signal has. It is one line: where an agent ends after it,
// the last line that it printed is the reason that people read.
func misspelt(err error) error {
	return term.BadUsage(fmt.Errorf(`%w; write one of: complete, fail, escalate, continue; or JSON: {"kind": "complete", "message": "…", "data": {"NAME": "VALUE"}}`, err), "")
}

// longestMessage is more than anybody reads, and less than the daemon keeps.
const longestMessage = 64 << 10

// longestData is what fits into a step of the daemon, whatever it consists of.
const longestData = 16 << 10

// parseSignal is the signal that a text means. An error says how the text should be.
func parseSignal(text string) (agentSignal, error) {
	s, err := readSignal(text)
	if err != nil {
		return agentSignal{}, misspelt(err)
	}
	if err := s.tooLong(); err != nil {
		return agentSignal{}, term.BadUsage(err, "")
	}
	return s, nil
}

// readSignal understands a bare word, also in quotes, and a JSON object. Fields of
// the object that it does not know are left alone: what counts is that the agent is
// heard.
func readSignal(text string) (agentSignal, error) {
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
		Data                  map[string]json.RawMessage
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&object); err != nil {
		return agentSignal{}, fmt.Errorf("the signal is not valid JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return agentSignal{}, errors.New("unexpected text after the signal's JSON object")
	}

	s := agentSignal{}
	switch {
	case object.Kind != nil && object.Action != nil && *object.Kind != *object.Action:
		return agentSignal{}, fmt.Errorf("the signal's kind is %q, but its action is %q", *object.Kind, *object.Action)
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
	if object.Data != nil {
		data, err := json.Marshal(object.Data)
		if err != nil {
			return agentSignal{}, fmt.Errorf("the signal's data: %w", err)
		}
		s.data = string(data)
	}
	return checkSignal(s)
}

// signals are what an agent can say.
func signals() []string { return []string{"complete", "fail", "escalate", "continue"} }

func checkSignal(s agentSignal) (agentSignal, error) {
	s.kind = strings.ToLower(strings.TrimSpace(s.kind))
	if !slices.Contains(signals(), s.kind) {
		return agentSignal{}, fmt.Errorf("unknown signal %q", term.Cut(plain.Line(s.kind), 40))
	}
	return s, nil
}

// tooLong is an error where the daemon would not take the signal whole.
func (s agentSignal) tooLong() error {
	switch {
	case len(s.message) > longestMessage:
		return fmt.Errorf("the message has %d bytes; the limit is %d", len(s.message), longestMessage)
	case len(s.data) > longestData:
		return fmt.Errorf("the data has %d bytes; the limit is %d", len(s.data), longestData)
	}
	return nil
}
