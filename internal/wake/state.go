package wake

import (
	"encoding/json"
	"time"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/plain"
)

const stateFile = "state.json"

// State is what is known of the tries to send the oldest letter. It is zero when there
// was none.
type State struct {
	Key       string    `json:"key"` // of the letter
	Tries     int       `json:"tries"`
	NextTry   time.Time `json:"next_try"`
	LastError string    `json:"last_error"`
	Since     time.Time `json:"since"` // of the first try that failed
}

// Tried records that a letter could not be delivered now and is to be tried again at
// next.
func (b Box) Tried(l Letter, cause error, now, next time.Time) error {
	return b.change(func([]letterFile) error {
		s, err := b.state()
		if err != nil {
			return err
		}
		if s.Key != l.Key {
			s = State{Key: l.Key, Since: now}
		}
		s.Tries++
		s.NextTry = next
		s.LastError = plain.Line(cause.Error())
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		// Not durable: what is lost with it is a count.
		return atomicfile.Replace(b.path(stateFile), text, 0o600)
	})
}

// State is what is known of the tries to send the oldest letter.
func (b Box) State() (State, error) {
	files, err := b.files()
	if err != nil || len(files) == 0 {
		return State{}, err
	}
	s, err := b.state()
	if _, waits := find(files, s.Key); !waits {
		return State{}, err
	}
	return s, err
}

// state is what the file says. One that is damaged says nothing.
func (b Box) state() (s State, err error) {
	text, err := readRegular(b.path(stateFile), 1<<20)
	if err != nil {
		return State{}, ignoreMissing(err)
	}
	if json.Unmarshal(text, &s) != nil {
		return State{}, nil
	}
	return s, nil
}
