package config

import (
	"cmp"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Supervisor is what one place, ccc.json or the global config, says about reviews
// of an agent's work. What is nil or empty it does not say.
type Supervisor struct {
	MaxIterations *int
	Timeout       *time.Duration
	PromptFile    string // relative to the directory of ccc.json
	MaxCost       *float64
}

// SupervisorSettings are the settings that hold.
type SupervisorSettings struct {
	// MaxIterations is how many reviews one series may have. Then the agent is let
	// go.
	MaxIterations int
	Timeout       time.Duration // of one review
	PromptFile    string
	MaxCost       float64 // in US dollars and for one session; 0 is no limit
}

// What the settings may be.
const (
	MostIterations    = 100
	LongestReview     = time.Hour
	defaultIterations = 10
	defaultReview     = 600 * time.Second
	mostCost          = 1e6
)

// ResolveSupervisor says what holds: what ccc.json says, then the global config,
// then the default.
func ResolveSupervisor(own, global Supervisor) SupervisorSettings {
	return SupervisorSettings{
		MaxIterations: *firstSet(own.MaxIterations, global.MaxIterations, new(defaultIterations)),
		Timeout:       *firstSet(own.Timeout, global.Timeout, new(defaultReview)),
		PromptFile:    cmp.Or(own.PromptFile, global.PromptFile),
		MaxCost:       *firstSet(own.MaxCost, global.MaxCost, new(0.0)),
	}
}

func (s *Supervisor) fields() []field {
	return []field{
		document.Key("max_iterations", &s.MaxIterations, document.Optional(count(1, MostIterations)), "Reviews in a row before the stop is allowed anyway. Default: 10."),
		document.Key("timeout_seconds", &s.Timeout, document.Optional(units(time.Second, 1, int64(LongestReview/time.Second))), "The time limit for a review, in seconds. Default: 600."),
		document.Key("prompt_file", &s.PromptFile, command(), "A file with instructions for the reviewer, instead of SUPERVISOR.md. Relative to the directory of ccc.json."),
		document.Key("max_cost_usd", &s.MaxCost, document.Optional(document.Amount(false, mostCost)), "The most that the reviews of one session may cost. Default: no limit."),
	}
}
