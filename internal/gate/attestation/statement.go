// Package attestation writes down on a commit which of its gates have passed, signed by a person, so
// that another machine can take that person's word for it.
package attestation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	statementType    = "stopgate-attestation"
	statementVersion = 1
	// skew is how far the clocks of two machines may be apart.
	skew = 5 * time.Minute
)

// Statement is what is signed. It names nothing of the machine, and no path or address of the
// repository: the commit is the same wherever its history is.
type Statement struct {
	Type    string `json:"type"`
	Version int    `json:"v"`
	Commit  string `json:"commit"`
	Tree    string `json:"tree"`
	// Project is the project's folder in the repository, with a slash at its end; empty at its root.
	Project string `json:"project"`
	// Approval is the id of .gauntlet as it was in force.
	Approval string    `json:"approval"`
	Time     time.Time `json:"time"`
	Gates    []Gate    `json:"gates"`
}

// Gate is a gate at an entry point that has passed, and a digest of what the pass holds for.
type Gate struct {
	Job    string `json:"job"`
	Covers string `json:"covers"`
}

// encode gives the one text that stands for a statement.
func (s Statement) encode() ([]byte, error) {
	s.Type, s.Version = statementType, statementVersion
	s.Time = s.Time.UTC().Truncate(time.Second)
	s.Gates = slices.SortedFunc(slices.Values(s.Gates), func(a, b Gate) int { return strings.Compare(a.Job, b.Job) })
	return json.Marshal(s)
}

// decode reads a statement. A text that is not exactly what encode makes of it is refused: then no two
// readers take it for different things.
func decode(text []byte) (s Statement, err error) {
	if err := json.Unmarshal(text, &s); err != nil || s.Type != statementType {
		return Statement{}, errors.New("not a statement of stopgate")
	}
	if s.Version != statementVersion {
		return Statement{}, fmt.Errorf("made by another version of stopgate (statement version %d)", s.Version)
	}
	if again, err := s.encode(); err != nil || !bytes.Equal(again, text) {
		return Statement{}, errors.New("the statement was edited")
	}
	return s, nil
}

// Expected is what an attestation must be about to count here.
type Expected struct {
	Commit, Tree, Project, Approval string

	Now    time.Time
	MaxAge time.Duration
}

// fits says why a statement does not count here; nil if it does.
func (e Expected) fits(s *Statement) error {
	age := e.Now.Sub(s.Time)
	switch {
	case s.Project != e.Project:
		return fmt.Errorf("about the project in %s", plain.Name("./"+s.Project))
	case s.Commit != e.Commit:
		return fmt.Errorf("about another commit, %s", plain.Short(s.Commit, 64))
	case s.Tree != e.Tree:
		return errors.New("about another tree")
	case s.Approval != e.Approval:
		return errors.New("about another .gauntlet")
	case age > e.MaxAge:
		return fmt.Errorf("expired: made %s ago, and --max-age is %s", plain.Duration(age.Round(time.Second)), plain.Duration(e.MaxAge))
	case age < -skew:
		return errors.New("made in the future: the clock of this machine or of its maker is wrong")
	}
	return nil
}
