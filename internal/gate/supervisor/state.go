package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/regular"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

const (
	// maxState is far more than a state takes. What is larger is not ours.
	maxState = 1 << 20
	// maxFeedback bounds what is kept of one review, in bytes.
	maxFeedback = 64 << 10
	// maxCount is more than any limit. A file that says more was not counted.
	maxCount = 1_000_000
	// maxDamaged is how many damaged files of a session are kept for whoever
	// looks into it.
	maxDamaged = 9
)

// State is what is known of a supervised session.
type State struct {
	SessionID string    `json:"session_id"`
	Count     int       `json:"count"` // reviews begun in the session
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	From     int     `json:"series_from,omitempty"` // the count at which the present series began
	PromptID string  `json:"prompt_id,omitempty"`   // of the last review that began
	Enabled  *bool   `json:"enabled,omitempty"`     // switched on or off by a person; nil: the environment says
	Reviews  int     `json:"reviews,omitempty"`     // that were answered, in the whole session
	Refusals int     `json:"refusals,omitempty"`    // of these
	Spent    Cost    `json:"spent,omitzero"`
	Last     *Review `json:"last,omitempty"`
	Told     string  `json:"told,omitempty"` // why there was no review, as the person has heard

	// Damaged means that what was there could not be read. Update keeps it under
	// another name.
	Damaged bool `json:"-"`
}

// Cost is what reviews cost.
type Cost = event.Cost

// Review is a review that was answered.
type Review struct {
	At           time.Time `json:"at"`
	PromptID     string    `json:"prompt_id,omitempty"`
	Tree         string    `json:"tree,omitempty"`         // that was reviewed
	Conversation string    `json:"conversation,omitempty"` // likewise
	AllowStop    bool      `json:"allow_stop"`
	Feedback     string    `json:"feedback,omitempty"`
	Status       string    `json:"status,omitempty"`
	Cost         Cost      `json:"cost,omitzero"`
	DurationMS   int64     `json:"duration_ms,omitempty"`
}

// Iteration is which review of its series the last one was.
func (s *State) Iteration() int { return max(s.Count-s.From, 0) }

// Begin counts one more review, unless the series has reached the limit: then
// nothing changes. A new series begins with a prompt that the last review was
// not for, once that review allowed the stop or the limit was reached. Where
// prompts have no ids, a session is one series.
func (s *State) Begin(promptID string, limit int) bool {
	from := s.From
	if s.newSeries(promptID, limit) {
		from = s.Count
	}
	if s.Count-from >= limit {
		return false
	}
	s.From = from
	s.Count++
	s.PromptID = promptID
	return true
}

// Renew begins a new series with the next review.
func (s *State) Renew() { s.From = s.Count }

func (s *State) newSeries(promptID string, limit int) bool {
	if promptID == "" || s.PromptID == "" || promptID == s.PromptID {
		return false
	}
	return s.Iteration() >= limit || s.Last != nil && s.Last.AllowStop
}

// Record takes an answered review into the state.
func (s *State) Record(r Review) {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	r.Feedback = bounded(r.Feedback, maxFeedback)
	r.Cost = r.Cost.Plus(Cost{})
	s.Reviews++
	if !r.AllowStop {
		s.Refusals++
	}
	s.Spent = s.Spent.Plus(r.Cost)
	s.Last = &r
}

// bounded is the beginning of a text, of whole characters.
func bounded(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Read is the state of a session, which may be changed meanwhile. One that is not
// there, is damaged or is not of this session is a fresh one.
func (d Dir) Read(session string) (State, error) {
	state, _, err := d.read(session)
	return state, err
}

func (d Dir) read(session string) (State, members, error) {
	if err := CheckSession(session); err != nil {
		return State{}, nil, err
	}
	text, err := regular.ReadNoFollow(d.StateFile(session), maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{SessionID: session}, nil, nil
	case errors.Is(err, regular.ErrNotRegular), errors.Is(err, regular.ErrTooLarge):
		return State{SessionID: session, Damaged: true}, nil, nil
	case err != nil:
		return State{}, nil, fmt.Errorf("read the supervisor's state: %w", err)
	}
	state, others, ok := decode(text, session)
	if !ok {
		return State{SessionID: session, Damaged: true}, nil, nil
	}
	return state, others, nil
}

// Update has change change the state and writes it. Nobody else writes in
// between, and the new state, which Update returns, is durable when there is no
// error. After an error the state is as it was.
func (d Dir) Update(ctx context.Context, session string, now time.Time, change func(*State) error) (State, error) {
	if err := CheckSession(session); err != nil {
		return State{}, err
	}
	var written State
	var others members
	var made bool
	read := func() (state State, err error) {
		state, others, err = d.read(session)
		return state, err
	}

	// Each session has its own lock, so that a process that stands still holds up no other session.
	lock := statefile.Lock{Path: d.lockFile(session), Patience: lockPatience, What: "the supervisor's state"}
	err := statefile.Change(ctx, lock, read, change, func(state State) error {
		state.SessionID = session
		state.UpdatedAt = now.UTC().Truncate(time.Millisecond)
		if made = state.CreatedAt.IsZero(); made {
			state.CreatedAt = state.UpdatedAt
		}
		written = state
		return d.write(state, others)
	})
	if err != nil {
		return State{}, err
	}

	if made {
		// By the clock that stamps the files, whatever that says.
		if info, err := os.Lstat(d.StateFile(session)); err == nil {
			d.Prune(info.ModTime())
		}
	}
	return written, nil
}

func (d Dir) write(state State, others members) error {
	text, err := encode(state, others)
	if err != nil {
		return err
	}
	path := d.StateFile(state.SessionID)
	if state.Damaged {
		if err := setAside(path); err != nil {
			return fmt.Errorf("move the damaged state aside: %w", err)
		}
	}
	if err := atomicfile.Write(path, text, 0o600); err != nil {
		return fmt.Errorf("write the supervisor's state: %w", err)
	}
	return nil
}

// setAside gives what is at path another name. When there are enough of those
// the newest takes the place of the one before.
func setAside(path string) error {
	aside := path + damagedSuffix
	for n := 2; n <= maxDamaged && disk.Exists(aside); n++ {
		aside = fmt.Sprintf("%s%s-%d", path, damagedSuffix, n)
	}
	if err := os.Rename(path, aside); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // somebody was faster
}
