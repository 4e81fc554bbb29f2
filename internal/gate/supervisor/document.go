package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// stampLayout is RFC 3339 with milliseconds, of times in UTC.
const stampLayout = "2006-01-02T15:04:05.000Z07:00"

// members are the members of a state file that are not ours. Somebody wrote
// them, a newer version perhaps, and they stay.
type members map[string]json.RawMessage

// document is the state file. A person may have written it, so it takes what
// State itself would not.
type document struct {
	SessionID string `json:"session_id"`
	Count     count  `json:"count"`
	CreatedAt stamp  `json:"created_at"`
	UpdatedAt stamp  `json:"updated_at"`
	State            // the rest of it
}

// names are the members of a document.
var names = []string{
	"session_id", "count", "created_at", "updated_at",
	"series_from", "prompt_id", "enabled", "reviews", "refusals", "spent", "last", "told",
}

func encode(s State, others members) ([]byte, error) {
	text, err := rawjson.Marshal(document{s.SessionID, count(s.Count), stamp(s.CreatedAt), stamp(s.UpdatedAt), s})
	if err != nil {
		return nil, fmt.Errorf("encode the supervisor's state: %w", err)
	}
	if len(others) > 0 {
		rest, err := rawjson.Marshal(others)
		if err != nil {
			return nil, fmt.Errorf("encode the supervisor's state: %w", err)
		}
		text = append(append(bytes.TrimSuffix(text, []byte("}")), ','), rest[1:]...)
	}
	if len(text) >= maxState {
		return nil, fmt.Errorf("the supervisor's state would be %d bytes, which is over its limit", len(text))
	}
	return append(text, '\n'), nil
}

// decode reads the state file of a session; ok is false when it is none.
func decode(text []byte, session string) (s State, others members, ok bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > maxState || json.Unmarshal(text, &others) != nil || others == nil {
		return State{}, nil, false
	}
	// Only what has exactly our names: encoding/json would take Count for count.
	own := members{}
	for _, name := range names {
		if value, found := others[name]; found {
			own[name] = value
		}
	}
	maps.DeleteFunc(others, func(name string, _ json.RawMessage) bool { return own[name] != nil })
	text, err := json.Marshal(own)
	d := document{SessionID: session}
	if err != nil || json.Unmarshal(text, &d) != nil || d.SessionID != session {
		return State{}, nil, false
	}
	return d.state(), others, true
}

func (d *document) state() State {
	s := d.State
	s.SessionID, s.Count = d.SessionID, int(d.Count)
	s.CreatedAt, s.UpdatedAt = time.Time(d.CreatedAt), time.Time(d.UpdatedAt)
	s.From = min(max(s.From, 0), s.Count)
	s.Reviews = min(max(s.Reviews, 0), maxCount)
	s.Refusals = min(max(s.Refusals, 0), maxCount)
	s.Spent = s.Spent.Plus(Cost{})
	return s
}

// count is a number that may have been written by hand: it becomes the nearest
// one that can be meant.
type count int

func (c *count) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(n, 0) { // which is a number too large
		return fmt.Errorf("%.40q is not a number", text)
	}
	*c = count(min(max(n, 0), maxCount))
	return nil
}

// stamp is a time that may have been written by hand: none, if it cannot be
// read.
type stamp time.Time

func (s stamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(s).Format(stampLayout))
}

func (s *stamp) UnmarshalJSON(text []byte) error {
	var at string
	if json.Unmarshal(text, &at) != nil {
		return nil
	}
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		*s = stamp(t.UTC())
	}
	return nil
}
