package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate/internal/sys/digest"
)

const version = 1

// document is the file: a state, and a hash of its text, so that a disk or a
// person that changed it is noticed.
type document struct {
	Version int             `json:"v"`
	Sum     string          `json:"sha256"`
	State   json.RawMessage `json:"state"`
}

func encode(s State) ([]byte, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the ledger: %w", err)
	}
	text, err := json.Marshal(document{version, digest.Hex(state), state})
	if err != nil {
		return nil, fmt.Errorf("encode the ledger: %w", err)
	}
	if len(text) >= maxSize {
		return nil, fmt.Errorf("the ledger would be %d MiB, which is over its limit", len(text)>>20)
	}
	return append(text, '\n'), nil
}

// decode reads a file; ok is false when it is not one that encode wrote.
func decode(text []byte) (s State, ok bool) {
	var d document
	if len(text) > maxSize || json.Unmarshal(text, &d) != nil || d.Version != version || d.Sum != digest.Hex(d.State) {
		return State{}, false
	}
	if json.Unmarshal(d.State, &s) != nil {
		return State{}, false
	}
	return s, true
}
