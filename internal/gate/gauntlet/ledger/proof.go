package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// proofLife bounds what a change outside of all keys (the network, a tool that
	// nobody named) can go unnoticed.
	proofLife = 24 * time.Hour
	// maxProofs is the last dozens of trees with a few gates each. Every stop reads
	// them all: 2000 of them doubled the time of a decision.
	maxProofs = 256
)

// Proof is a pass of a gate, kept under the key of all that it depends on.
type Proof struct {
	At       time.Time `json:"at"`
	Warnings []string  `json:"warnings,omitempty"` // which the pass came with
}

// Proof is the pass under a key, if it still counts. One from the future does
// not: the clock has jumped, and its age is unknown.
func (s *State) Proof(key string, now time.Time) (Proof, bool) {
	proof, found := s.Proven[key]
	if !found || !proof.counts(now) {
		return Proof{}, false
	}
	return proof, true
}

func (p Proof) counts(now time.Time) bool {
	age := now.Round(0).Sub(p.At)
	return age >= 0 && age < proofLife
}

func (s *State) prove(key string, proof Proof) {
	if s.Proven == nil {
		s.Proven = map[string]Proof{}
	}
	s.Proven[key] = proof
}

// prune drops the proofs that no longer count, and the oldest of too many. Those
// of the run that is recorded now stay, however many there are: else a project
// with many gates would never be proven.
func (s *State) prune(now time.Time) {
	maps.DeleteFunc(s.Proven, func(_ string, p Proof) bool { return !p.counts(now) })
	var older []string
	for key, proof := range s.Proven {
		if !proof.At.Equal(now) {
			older = append(older, key)
		}
	}
	slices.SortFunc(older, func(a, b string) int {
		return cmp.Or(s.Proven[a].At.Compare(s.Proven[b].At), cmp.Compare(a, b))
	})
	for _, key := range older[:max(0, min(len(older), len(s.Proven)-maxProofs))] {
		delete(s.Proven, key)
	}
}
