package term

import (
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// legible makes lines of what a model or a person wrote, all of it: who is to allow
// something must see it whole. What would steer the terminal or hide itself is a question
// mark.
func legible(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			return r
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return '?'
	}, text)
	return strings.Split(text, "\n")
}

// Wrap breaks a text into lines of at most width columns, between words where it can.
func Wrap(text string, width int) []string {
	var lines []string
	for _, line := range legible(text) {
		lines = append(lines, wrapLine(strings.TrimRight(line, " "), width)...)
	}
	return lines
}

// Reflow breaks a text into lines of at most width columns. Lines that follow each other are one
// paragraph, wherever they were broken; indented lines and those of a list stay lines of their own.
func Reflow(text string, width int) []string {
	var lines []string
	open := false // the last line is part of a paragraph
	for _, line := range legible(strings.TrimSpace(text)) {
		prose := line != "" && textBegin(line) == 0
		if prose && open {
			lines[len(lines)-1] += " " + line
		} else {
			lines = append(lines, line)
		}
		open = prose
	}
	return Wrap(strings.Join(lines, "\n"), width)
}

// wrapLine breaks a line, which goes on below where its text began. The spaces in it stay
// as they are, but for those where it is broken.
func wrapLine(line string, width int) (lines []string) {
	indent := ""
	if n := textBegin(line); n <= width/2-1 { // there is room for a wide character
		indent = strings.Repeat(" ", n)
	}
	for Cells(line) > width {
		head := headOf(line, width)
		next := line[len(head):]
		if at := strings.LastIndexByte(head, ' '); next[0] != ' ' && at > len(indent) {
			head, next = line[:at], line[at:]
		}
		next = strings.TrimLeft(next, " ")
		lines = append(lines, strings.TrimRight(head, " "))
		line = indent + next
		if next == "" {
			return lines
		}
	}
	return append(lines, line)
}

// textBegin is where the text of a line begins, behind its white space and the mark of a
// list.
func textBegin(line string) int {
	space := len(line) - len(strings.TrimLeft(line, " "))
	mark, _, found := strings.Cut(line[space:], " ")
	number := strings.TrimRight(mark, ".)")
	if found && (mark == "-" || mark == "*" || mark == "•" || number != mark && number != "" && strings.Trim(number, "0123456789") == "") {
		return space + Cells(mark) + 1
	}
	return space
}

// headOf is as much of a text as takes so many columns, and at least one character.
func headOf(text string, width int) string {
	n := 0
	for i, r := range text {
		if n += plain.Cells(r); n > width && i > 0 {
			return text[:i]
		}
	}
	return text
}

// Hang puts a beginning before lines: before the first, and as much space before the
// others.
func Hang(beginning string, lines []string) []string {
	space := strings.Repeat(" ", Cells(beginning))
	hung := make([]string, len(lines))
	for i, line := range lines {
		hung[i] = strings.TrimRight(beginning+line, " ")
		beginning = space
	}
	return hung
}

// Wrapped is a text behind a beginning, in at most width columns.
func Wrapped(beginning, text string, width int) []string {
	return Hang(beginning, Wrap(text, max(1, width-Cells(beginning))))
}
