package engine

import "time"

// Step is what one input came to: one event in the store, under the subject of its
// owner.
type Step struct {
	Owner   string    `json:"owner"`
	Input   string    `json:"input"` // its id
	Cause   string    `json:"cause"` // what kind of input it was
	Time    time.Time `json:"time"`
	Late    bool      `json:"late,omitempty"`
	Journal bool      `json:"journal,omitempty"`
	Facts   []Fact    `json:"facts,omitempty"`
	Effects []Effect  `json:"effects,omitempty"`
}

// Subject is where an owner's steps are.
func Subject(kind Kind, id string) string { return string(kind) + "." + id }

// Refusal is why an input of a person cannot be: it changes nothing.
type Refusal struct {
	Code string // not_found, conflict, invalid
	Why  string
}

func (r *Refusal) Error() string { return r.Why }
