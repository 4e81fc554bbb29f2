package job

import (
	"fmt"
	"maps"
)

// Cap is a limit that holds across all members: on how many jobs are done at once, and on what they cost.
type Cap struct {
	Limit Limit
	Held  map[string]Reservation // by job
	Spent float64                // by jobs that have ended
}

// Limit is how much there is. Zero is no limit.
type Limit struct {
	Jobs int     `json:"jobs,omitempty"`
	USD  float64 `json:"usd,omitempty"`
}

// Reservation is what a job holds of a cap while it is not known that it has ended. An attempt that is lost
// keeps it until a person has decided.
type Reservation struct {
	Attempt int     `json:"attempt"`
	USD     float64 `json:"usd,omitempty"`
}

// CapFact is something that happened to a cap.
type CapFact struct {
	Type    string  `json:"type"` // set, reserved, settled
	Limit   *Limit  `json:"limit,omitempty"`
	Job     string  `json:"job,omitempty"`
	Attempt int     `json:"attempt,omitempty"`
	USD     float64 `json:"usd,omitempty"`
}

// After is the cap after a fact.
func (c Cap) After(f CapFact) Cap {
	held := maps.Clone(c.Held)
	if held == nil {
		held = map[string]Reservation{}
	}
	switch f.Type {
	case "set":
		if f.Limit != nil {
			c.Limit = *f.Limit
		}
	case "reserved":
		held[f.Job] = Reservation{Attempt: f.Attempt, USD: f.USD}
	case "settled":
		delete(held, f.Job)
		c.Spent += f.USD
	}
	c.Held = held
	return c
}

// Reserved is what is held in all.
func (c Cap) Reserved() (usd float64) {
	for _, r := range c.Held {
		usd += r.USD
	}
	return usd
}

// FullError says why a job has no room under a cap.
type FullError struct{ Why string }

func (e *FullError) Error() string { return e.Why }

// Reserve takes room for an attempt. One that follows another of the same job takes over what that held.
func (c Cap) Reserve(job string, attempt int, usd float64) (CapFact, error) {
	others := c.Held
	if _, has := c.Held[job]; has {
		others = maps.Clone(c.Held)
		delete(others, job)
	}
	total := c.Spent + usd
	for _, r := range others {
		total += r.USD
	}
	switch {
	case c.Limit.Jobs > 0 && len(others) >= c.Limit.Jobs:
		return CapFact{}, &FullError{fmt.Sprintf("%d of %d jobs are being done", len(others), c.Limit.Jobs)}
	case c.Limit.USD > 0 && total > c.Limit.USD:
		return CapFact{}, &FullError{fmt.Sprintf("$%.2f of $%.2f are spent or reserved", total-usd, c.Limit.USD)}
	}
	return CapFact{Type: "reserved", Job: job, Attempt: attempt, USD: usd}, nil
}

// Settle gives back what an attempt held, for what it has cost.
func (c Cap) Settle(job string, attempt int, usd float64) (CapFact, error) {
	held, has := c.Held[job]
	if !has || held.Attempt != attempt {
		return CapFact{}, fmt.Errorf("%w: attempt %d of job %s holds nothing", ErrStale, attempt, job)
	}
	return CapFact{Type: "settled", Job: job, Attempt: attempt, USD: usd}, nil
}
