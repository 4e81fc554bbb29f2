package term

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// PrintJSON prints a value as JSON in lines.
func PrintJSON(out io.Writer, v any) error {
	text, err := rawjson.Lines(v)
	if err == nil {
		_, err = Verbatim(out).Write(visibleJSON(text))
	}
	return err
}

// PrintLine prints a value as JSON in one line.
func PrintLine(out io.Writer, v any) error {
	text, err := rawjson.Marshal(v)
	if err == nil {
		_, err = Verbatim(out).Write(append(text, '\n'))
	}
	return err
}

// visibleJSON is the same document with escapes for what a terminal would not show as it is.
func visibleJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Paint colours text on a terminal, unless NO_COLOR asks for none.
type Paint bool

func PaintFor(out io.Writer) Paint {
	file, ok := fileOf(out)
	return Paint(ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())))
}

func (p Paint) in(code, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p Paint) Red(text string) string    { return p.in("31", text) }
func (p Paint) Green(text string) string  { return p.in("32", text) }
func (p Paint) Yellow(text string) string { return p.in("33", text) }
func (p Paint) Faint(text string) string  { return p.in("2", text) }
func (p Paint) Bold(text string) string   { return p.in("1", text) }

// Tally names what there is some of, with how many: "2 running, 1 waiting".
func Tally(words []string, counts []int) string {
	var parts []string
	for i, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// parseAge is time.ParseDuration with days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 16) // more would not fit a time.Duration
		if err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return 0, fmt.Errorf("invalid duration %q: write 30m, 2h or 3d", text)
}

// ShellWord is a word as it is typed into a shell.
func ShellWord(word string) string {
	if plain.IsWord(word, "./@%+,", math.MaxInt) && word[0] != '-' {
		return word
	}
	return quoted(word)
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Shown is a path as it is, or quoted where it would not survive a line of a
// terminal.
func Shown(path string) string {
	if plain.Line(path) == path {
		return path
	}
	return strconv.Quote(path)
}

// Quote makes a path safe to paste into a shell.
func Quote(path string) string {
	harmless := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+@%,:", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !harmless(r) }) {
		return quoted(path)
	}
	return path
}

func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = PrintableLine(line)
	}
	return strings.Join(lines, "\n")
}

// Money shows a cost with its tokens and, if there is one, its limit.
func Money(c event.Cost, most float64) string {
	text := fmt.Sprintf("$%.4f", c.USD)
	if most > 0 {
		text += fmt.Sprintf(" of $%.2f", most)
	}
	read := c.InputTokens + c.CacheReadTokens + c.CacheCreationTokens
	return fmt.Sprintf("%s (%d tokens read, %d written)", text, read, c.OutputTokens)
}

// Elapsed is a duration in at most six characters.
func Elapsed(d time.Duration) string {
	switch {
	case d < 0: // the clock was set back
		return "0.0s"
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", min(99, int(d.Hours())), int(d.Minutes())%60)
}

// Age is how long ago something was, in a few characters.
func Age(t, now time.Time) string {
	age := max(0, now.Sub(t)) // the clock may have been set back
	switch {
	case t.IsZero():
		return "-"
	case age < time.Minute:
		return fmt.Sprintf("%ds", int(age.Seconds()))
	case age < 48*time.Hour:
		return Elapsed(age)
	}
	return fmt.Sprintf("%dd", int(age.Hours()/24))
}

func LogToStderr(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "stopgate: "+format+"\n", args...)
}

// PrintableLine keeps the indentation of output but nothing that steers a
// terminal.
func PrintableLine(line string) string {
	line = plain.LastDrawn(line)
	body := strings.TrimLeft(line, " \t")
	return strings.ReplaceAll(line[:len(line)-len(body)], "\t", "    ") + plain.Line(body)
}
