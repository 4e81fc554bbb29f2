package config

import (
	"cmp"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
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
	MostIterations          = 100
	LongestReview           = time.Hour
	defaultIterations       = 10
	defaultReview           = 600 * time.Second
	mostCost                = 1e6
	secondsOfLongestReview  = int(LongestReview / time.Second)
	secondsOfShortestReview = 1
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

func readSupervisor(v value, to *Supervisor) {
	v.mapping(
		field{key: "max_iterations", read: optional(&to.MaxIterations, func(v value, to *int) bool { return v.count(to, 1, MostIterations) })},
		field{key: "timeout_seconds", read: optional(&to.Timeout, value.wholeSeconds)},
		field{key: "prompt_file", read: func(v value) { v.command(&to.PromptFile) }},
		field{key: "max_cost_usd", read: optional(&to.MaxCost, value.dollars)},
	)
}

func (v value) wholeSeconds(to *time.Duration) bool {
	var seconds int
	if !v.count(&seconds, secondsOfShortestReview, secondsOfLongestReview) {
		return false
	}
	*to = time.Duration(seconds) * time.Second
	return true
}

// dollars reads an amount above 0.
func (v value) dollars(to *float64) bool {
	switch v.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		v.wrongType("a number", "")
		return false
	}
	amount, err := strconv.ParseFloat(v.node.GetToken().Value, 64)
	if err != nil || !(amount > 0) || amount > mostCost {
		v.fault("must be a number above 0 and at most "+strconv.Itoa(mostCost), "")
		return false
	}
	*to = amount
	return true
}
