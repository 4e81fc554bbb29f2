package queue

import (
	"errors"
	"time"
)

// Time is written as JavaScript writes it: in UTC, to the millisecond.
type Time struct{ time.Time }

// layout of a Time.
const layout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.String() + `"`), nil
}

func (t Time) String() string { return t.UTC().Format(layout) }

// UnmarshalJSON implements json.Unmarshaler. It refuses what could not be written
// again.
func (t *Time) UnmarshalJSON(text []byte) error {
	if err := t.Time.UnmarshalJSON(text); err != nil {
		return err
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return errors.New("the year must have four digits")
	}
	return nil
}
