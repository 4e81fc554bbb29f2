package wake

import (
	"encoding/json"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const stateFile = "state.json"

// State is what is known of the tries that failed since a letter was last delivered. It
// is zero when there was none. Letters that die leave it as it is: a gateway that
// failed one of them for long need not fail the next one as long.
type State struct {
	Key       string    `json:"key"`   // of the letter that was tried last
	Tries     int       `json:"tries"` // of that one and of those before it
	NextTry   time.Time `json:"next_try"`
	LastError string    `json:"last_error"`
	// Since is since when a person has to put something right; zero if nobody has.
	Since time.Time `json:"since,omitzero"`
	// Sender is who waits for the next try without holding the box.
	Sender string `json:"sender,omitempty"`
}

// Tried records that a letter could not be delivered now and is to be tried again at
// next. A person has to put something right since then, if since is not zero.
func (b Box) Tried(l Letter, cause error, since, next time.Time) error {
	return b.note(func(s *State) {
		s.Key, s.LastError = l.Key, plain.Line(cause.Error())
		s.Tries++
		s.Since, s.NextTry = since, next
	})
}

// Await records who waits for the next try, so that whoever waited before leaves it to
// that one.
func (b Box) Await(sender string) error {
	return b.note(func(s *State) { s.Sender = sender })
}

func (b Box) note(change func(*State)) error {
	return b.change(func([]letterFile) error {
		s, err := b.State()
		if err != nil {
			return err
		}
		change(&s)
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		// Not durable: what is lost with it is a count.
		return atomicfile.Replace(b.path(stateFile), text, 0o600)
	})
}

// forget ends the row of tries that failed. A state that cannot be removed only counts
// too many of them.
func (b Box) forget() { _ = os.Remove(b.path(stateFile)) }

// State is what is known of the tries that failed. A file that is damaged says nothing.
func (b Box) State() (s State, err error) {
	text, err := readRegular(b.path(stateFile), 1<<20)
	if err != nil {
		return State{}, ignoreMissing(err)
	}
	if json.Unmarshal(text, &s) != nil {
		return State{}, nil
	}
	return s, nil
}
