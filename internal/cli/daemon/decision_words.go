package daemon

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// choices are the answers to a decision that is open, in a few characters.
func choices(d *daemonapi.Decision) string {
	switch asked := d.Questions(); {
	case d.Resolved != nil:
		return "-"
	case len(asked) > 1:
		return fmt.Sprintf("%d answers|%s", len(asked), lastOption(d))
	case len(asked) == 1:
		words := []string{}
		for i := range asked[0].Options {
			words = append(words, fmt.Sprint(i+1))
		}
		return strings.Join(append(words, lastOption(d)), "|")
	}
	names := make([]string, len(d.Options))
	for i, o := range d.Options {
		names[i] = term.ShellWord(plain.Line(o.Name))
	}
	return strings.Join(names, "|")
}

// answerLine is the command that answers a decision, with all options. Of several
// questions one has to see the choices first.
func answerLine(d *daemonapi.Decision) string {
	if len(d.Questions()) > 0 {
		return "stopgate decision show " + shortID(d.ID)
	}
	return strings.TrimRight("stopgate decision answer "+shortID(d.ID)+" "+choices(d), " ")
}

// decisionLines are what a decision is about and what can be answered, or how it was
// settled, in a few lines.
func decisionLines(p term.Paint, d *daemonapi.Decision, width int) []string {
	if d == nil {
		return nil
	}

	var lines []string
	mark := "? "
	for line := range strings.Lines(d.Context) {
		if line = plain.Line(line); line != "" {
			lines = append(lines, p.Yellow(term.Cut(mark+line, width)))
			mark = "  "
		}
	}
	if d.Resolved != nil {
		return append(lines, term.Cut("settled at "+term.Clock(*d.Resolved, *d.Resolved)+": "+settledBy(d), width))
	}

	names := 0
	for _, o := range d.Options {
		names = max(names, term.Cells(plain.Line(o.Name)))
	}
	for _, o := range d.Options {
		text := plain.Line(o.Description)
		if o.Recommended {
			text += " (recommended)"
		}
		lines = append(lines, term.Cut(fmt.Sprintf("  %d  %s  %s", o.Number, term.Pad(plain.Line(o.Name), names), text), width))
	}

	line := "  → " + answerLine(d)
	if d.TakesWords() && len(d.Questions()) == 0 {
		line += "   or: -m TEXT"
	}
	return append(lines, p.Faint(term.Cut(line, width)))
}

// settledBy is how a decision was settled.
func settledBy(d *daemonapi.Decision) string {
	text := cmp.Or(plain.Line(d.Closed), plain.Line(d.Chosen), plain.Line(strings.Join(d.Answers, "; ")), "answered")
	if words := plain.Line(d.Message); words != "" && words != text {
		text += ": " + words
	}
	return text
}

// lastOption is the one that cancels.
func lastOption(d *daemonapi.Decision) string {
	if len(d.Options) == 0 {
		return "cancel"
	}
	return term.ShellWord(plain.Line(d.Options[len(d.Options)-1].Name))
}

// spent is what agents have cost; "" where that is not known.
func spent(usd float64, tokens int64) string {
	var parts []string
	if usd > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", usd))
	}
	if tokens > 0 {
		parts = append(parts, plain.Digits(tokens)+" tokens")
	}
	return strings.Join(parts, ", ")
}
