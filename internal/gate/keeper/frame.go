package keeper

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxReason bounds what the agent is told at once, in bytes. More is in the files that the
	// reason names; a model that is flooded fixes less.
	MaxReason = 8<<10 - 1
	// MaxFrame bounds our own words in it, in characters. The rest is what gates said.
	MaxFrame = 600
)

// Frame is a reason in the making. Its first words say what failed, and MUST leave room for
// themselves whatever names are in them: see Shorten.
type Frame struct {
	Text  string
	words int // characters of our own
}

// Say adds words of our own, if there is room for all of them.
func (f *Frame) Say(format string, args ...any) bool {
	text := fmt.Sprintf(format, args...)
	n := utf8.RuneCountInString(text)
	if f.words+n > MaxFrame || len(f.Text)+len(text) > MaxReason {
		return false
	}
	f.Text += text
	f.words += n
	return true
}

// Words are a reason that is nothing but a few words of our own, with names and errors in them of any length.
func Words(format string, names ...string) string {
	const most = 300
	args := make([]any, len(names))
	for i, name := range names {
		args[i] = Shorten(name, most/len(names))
	}
	var f Frame
	f.Say("stopgate: "+format, args...)
	return f.Text
}

// Room is how many more characters of our own there may be.
func (f *Frame) Room() int { return MaxFrame - f.words }

// Add adds what a program printed, as much as there is room for in a share of the reason. The end of it says what went
// wrong.
func (f *Frame) Add(text string, shares int) {
	const least = 40
	if room := (MaxReason - len(f.Text)) / shares; text != "" && room > least {
		f.Text += CutStart(text, room)
	}
}

// CutStart shortens a text from its start to that many bytes, at a line.
func CutStart(text string, most int) string {
	const mark = "…\n"
	if len(text) <= most {
		return text
	}
	text = text[len(text)-max(0, most-len(mark)):]
	if _, rest, found := strings.Cut(text, "\n"); found && rest != "" {
		text = rest
	}
	return mark + strings.ToValidUTF8(text, "")
}

// List adds lines, shortened where they are long, and says how many more there are than fit.
func (f *Frame) List(lines []string) {
	const longest, more = 100, len("and 1000000 more\n")
	for i, line := range lines {
		line = Shorten(line, longest)
		room := f.Room() - utf8.RuneCountInString(line) - 1
		if room < 0 || room < more && i < len(lines)-1 {
			f.Say("and %d more\n", len(lines)-i)
			return
		}
		f.Say("%s\n", line)
	}
}

// Shorten leaves out the middle of a text with more characters than most: of a long path both ends tell
// it from others.
func Shorten(text string, most int) string {
	all := []rune(text)
	if len(all) <= most {
		return text
	}
	head := (most - 1) / 2
	return string(all[:head]) + "…" + string(all[len(all)-(most-1-head):])
}
