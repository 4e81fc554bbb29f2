package cli

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gauntlet"
)

// junitSuites is the report that CI systems read. Each gate is a test case; a
// gate that could not run is an error, not a failure.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Name    string       `xml:"name,attr"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitTrouble `xml:"failure"`
	Error   *junitTrouble `xml:"error"`
	Skipped *junitTrouble `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitTrouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

func junit(r *gauntlet.Result) []byte {
	suite := junitSuite{Name: "gauntlet", Time: seconds(r.Duration)}
	for i := range r.Gates {
		suite.add(caseOf(&r.Gates[i]))
	}
	if suite.Failures == 0 && exitFor(r) != exitOK {
		// Nobody may take a report for good that has nothing bad to show only
		// because nothing ran.
		suite.add(junitCase{Class: "stopgate", Name: "run", Time: seconds(r.Duration), Error: &junitTrouble{Message: r.Message, Text: printableLines(r.ErrorMessage)}})
	}
	text, err := xml.MarshalIndent(junitSuites{Name: "stopgate", Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func caseOf(g *gauntlet.GateResult) junitCase {
	class := string(g.Kind)
	if g.Entry != "." {
		class += "." + g.Entry
	}
	c := junitCase{Class: class, Name: g.Name, Time: seconds(g.Duration)}
	trouble := &junitTrouble{Message: g.Message, Text: details(g)}
	switch g.Outcome {
	case gauntlet.GateFailed:
		c.Failure = trouble
	case gauntlet.GateCouldNotRun:
		c.Error = trouble
	case gauntlet.GateNotStarted:
		c.Skipped = trouble
	case gauntlet.GateProven:
		c.Output = "proven: it passed for exactly this content"
	}
	return c
}

// details are what a gate found, as plain text.
func details(g *gauntlet.GateResult) string {
	var parts []string
	if g.Tail != "" {
		parts = append(parts, g.Tail)
	}
	for _, v := range g.Violations {
		parts = append(parts, fmt.Sprintf("%s: %s: %s (%s)", v.Location(), v.Priority, v.Issue, v.ID))
	}
	if g.FixInstructions != "" {
		parts = append(parts, strings.TrimSpace(g.FixInstructions))
	}
	if g.Log != "" {
		parts = append(parts, "log: "+g.Log)
	}
	return printableLines(strings.Join(parts, "\n")) // XML cannot hold control characters
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
