package attestation

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func example() Statement {
	return Statement{
		Commit: strings.Repeat("c", 40), Tree: strings.Repeat("d", 40), Approval: strings.Repeat("e", 64), Time: noon,
		Gates: []Gate{{"check:.:unit", "u"}, {"check:.:lint", "l"}},
	}
}

// What is signed is one text for one statement, written down here: a change of it is a new version.
func TestIssue19AStatementHasOneText(t *testing.T) {
	text, err := example().encode()
	check(t, err)
	want := `{"type":"stopgate-attestation","v":1,"commit":"` + strings.Repeat("c", 40) + `","tree":"` + strings.Repeat("d", 40) +
		`","project":"","approval":"` + strings.Repeat("e", 64) + `","time":"2026-11-17T12:00:00Z","gates":[` +
		`{"job":"check:.:lint","covers":"l"},{"job":"check:.:unit","covers":"u"}]}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}

	rapid.Check(t, func(t *rapid.T) {
		s := example()
		s.Project = rapid.String().Draw(t, "project")
		s.Gates = append(s.Gates, Gate{rapid.StringMatching(`check:[^:]{1,9}:z`).Draw(t, "job"), "c"})
		s.Time = noon.Add(time.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "time"))).In(time.FixedZone("x", 3600))
		text, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		read, err := decode(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, _ := read.encode(); !bytes.Equal(again, text) {
			t.Fatalf("%s, then %s", text, again)
		}
	})
}

// A text that another reader could take for something else is not a statement.
func TestIssue19AnotherTextIsNoStatement(t *testing.T) {
	text, err := example().encode()
	check(t, err)
	for name, change := range map[string][2]string{
		"space":         {`"project":`, `"project": `},
		"unknown field": {`"project"`, `"more":1,"project"`},
		"twice":         {`"project":""`, `"project":"x","project":""`},
		"order":         {`{"job":"check:.:lint","covers":"l"},{"job":"check:.:unit","covers":"u"}`, `{"job":"check:.:unit","covers":"u"},{"job":"check:.:lint","covers":"l"}`},
		"other case":    {`"commit"`, `"Commit"`},
		"version":       {`"v":1`, `"v":9`},
		"type":          {`stopgate-`, `other-`},
		"fractions":     {`12:00:00Z`, `12:00:00.5Z`},
		"zone":          {`12:00:00Z`, `13:00:00+01:00`},
		"cut off":       {`]}`, `]`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if s, err := decode([]byte(changed)); err == nil || changed == string(text) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	text, err := example().encode()
	check(f, err)
	f.Add(text)
	f.Add([]byte(`{"type":"stopgate-attestation","v":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decode(text)
		if err != nil {
			return
		}
		if again, err := s.encode(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is read, and written as %q (%v)", text, again, err)
		}
	})
}

func TestIssue19WhatAnAttestationMustBeAbout(t *testing.T) {
	s := example()
	expected := Expected{Commit: s.Commit, Tree: s.Tree, Approval: s.Approval, Now: noon.Add(time.Hour), MaxAge: 24 * time.Hour}
	check(t, expected.fits(&s))
	for want, change := range map[string]func(s *Statement){
		"about another commit":      func(s *Statement) { s.Commit = "x" },
		"about another tree":        func(s *Statement) { s.Tree = "x" },
		"about another .gauntlet":   func(s *Statement) { s.Approval = "x" },
		"about the project in ./x/": func(s *Statement) { s.Project = "x/" },
		"expired":                   func(s *Statement) { s.Time = noon.Add(-24 * time.Hour) },
		"made in the future":        func(s *Statement) { s.Time = noon.Add(time.Hour + skew + time.Second) },
	} {
		changed := s
		change(&changed)
		err := expected.fits(&changed)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s.Time = noon.Add(time.Hour + skew - time.Second) // clocks differ
	check(t, expected.fits(&s))
}
