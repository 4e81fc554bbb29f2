package gates

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
)

// junitSuite is the report that CI systems read. Each gate is a test case; a
// gate that could not run is an error, not a failure. It is written by hand:
// encoding/xml would cost every hook call its start.
type junitSuite struct {
	time                      string
	failures, errors, skipped int
	cases                     []junitCase
}

type junitCase struct {
	class, name, time string
	trouble           string // failure, error or skipped; empty for none
	message, text     string
	output            string
}

func junit(r *gauntlet.Result) []byte {
	suite := junitSuite{time: seconds(r.Duration)}
	for i := range r.Gates {
		suite.add(caseOf(&r.Gates[i]))
	}
	if suite.failures == 0 && exitFor(r) != term.ExitOK {
		// A report without a failure must not look good only because nothing ran.
		suite.add(junitCase{class: "stopgate", name: "run", time: suite.time, trouble: "error", message: r.Sentence(), text: term.PrintableLines(r.ErrorMessage)})
	}
	return suite.encode()
}

func (s *junitSuite) add(c junitCase) {
	s.cases = append(s.cases, c)
	switch c.trouble {
	case "failure":
		s.failures++
	case "error":
		s.errors++
	case "skipped":
		s.skipped++
	}
}

func (s *junitSuite) encode() []byte {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stopgate\">\n")
	fmt.Fprintf(&b, "  <testsuite name=\"gauntlet\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%s\">\n",
		len(s.cases), s.failures, s.errors, s.skipped, s.time)
	for _, c := range s.cases {
		c.encode(&b)
	}
	b.WriteString("  </testsuite>\n</testsuites>\n")
	return []byte(b.String())
}

func (c *junitCase) encode(b *strings.Builder) {
	fmt.Fprintf(b, "    <testcase classname=\"%s\" name=\"%s\" time=\"%s\"", inXML(c.class), inXML(c.name), c.time)
	if c.trouble == "" && c.output == "" {
		b.WriteString("></testcase>\n")
		return
	}
	b.WriteString(">\n")
	if c.trouble != "" {
		fmt.Fprintf(b, "      <%s message=\"%s\">%s</%s>\n", c.trouble, inXML(c.message), inCDATA(c.text), c.trouble)
	}
	if c.output != "" {
		fmt.Fprintf(b, "      <system-out>%s</system-out>\n", inXML(c.output))
	}
	b.WriteString("    </testcase>\n")
}

// inXML writes a text as an attribute or as content. What XML cannot hold becomes
// U+FFFD.
func inXML(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '\t' || r == '\n' || r == '\r':
			fmt.Fprintf(&b, "&#x%X;", r)
		case r < ' ' || r == 0xFFFE || r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inCDATA writes a text that has no control characters. Its end mark within the
// text is cut in two.
func inCDATA(text string) string {
	if text == "" {
		return ""
	}
	return "<![CDATA[" + strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "]]>", "]]]]><![CDATA[>") + "]]>"
}

func caseOf(g *gauntlet.GateResult) junitCase {
	class := string(g.Kind)
	if g.Entry != "." {
		class += "." + g.Entry
	}
	c := junitCase{class: class, name: g.Name, time: seconds(g.Duration), message: g.Message, text: details(g)}
	switch g.Outcome {
	case gauntlet.GateFailed:
		c.trouble = "failure"
	case gauntlet.GateCouldNotRun:
		c.trouble = "error"
	case gauntlet.GateNotStarted:
		c.trouble = "skipped"
	case gauntlet.GateProven:
		c.output = unchanged
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
	return term.PrintableLines(strings.Join(parts, "\n")) // XML cannot hold control characters
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
