package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// look is how a character is drawn.
type look uint8

const (
	dim      look = 1 << iota // what Claude Code itself suggests
	reversed                  // the cursor, as Claude Code draws it
	coloured                  // in another colour than that of plain text
)

// screen is a captured screen without its escape sequences.
type screen struct {
	text  string
	looks []look // of each byte of the text
}

// parse takes a captured screen apart. A line's looks go on in the next line; a sequence
// that is cut off ends with its line.
func parse(captured string) screen {
	var text strings.Builder
	var looks []look
	now := look(0)
	write := func(r rune) {
		n, _ := text.WriteRune(r)
		for range n {
			looks = append(looks, now)
		}
	}

	for line := range strings.Lines(captured) {
		line, ended := strings.CutSuffix(line, "\n")
		for line != "" {
			if rest, ok := plain.CutEscape(line); ok {
				now = now.after(line[:len(line)-len(rest)])
				line = rest
				continue
			}
			r, size := utf8.DecodeRuneInString(line)
			line = line[size:]
			if !unicode.IsControl(r) {
				write(r)
			}
		}
		if ended {
			write('\n')
		}
	}
	return screen{text: text.String(), looks: looks}
}

// after is the look after an escape sequence.
func (l look) after(sequence string) look {
	parameters, ok := strings.CutPrefix(sequence, "\x1b[")
	if !ok || !strings.HasSuffix(parameters, "m") {
		return l
	}

	codes := strings.Split(strings.TrimSuffix(parameters, "m"), ";")
	for i := 0; i < len(codes); i++ {
		switch codes[i] {
		case "", "0":
			l = 0
		case "2":
			l |= dim
		case "7":
			l |= reversed
		case "22":
			l &^= dim
		case "27":
			l &^= reversed
		case "39":
			l &^= coloured
		case "38", "48", "58": // a colour: its numbers are no codes
			if codes[i] == "38" {
				l |= coloured
			}
			i += colourLength(codes[i+1:])
		case "30", "31", "32", "33", "34", "35", "36", "37", "90", "91", "92", "93", "94", "95", "96", "97":
			l |= coloured
		}
	}
	return l
}

// colourLength is how many numbers a colour has: 5 and one, or 2 and three.
func colourLength(codes []string) int {
	switch {
	case len(codes) == 0:
		return 0
	case codes[0] == "2":
		return 4
	}
	return 2
}

// typed is what a person has typed in a part of the screen. The cursor stands on the
// first character of a suggestion, which is not dim then.
func (s screen) typed(start, end int) string {
	var b strings.Builder
	for i, r := range s.text[start:end] {
		at := start + i
		next := at + utf8.RuneLen(r)
		switch {
		case s.looks[at]&dim != 0:
		case s.looks[at]&reversed != 0 && next < end && s.looks[next]&dim != 0:
		default:
			b.WriteRune(r)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '│' })
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// cursor tells whether Claude Code's cursor is in a part of the screen. It is one
// character wide; whatever is wider is decoration.
func (s screen) cursor(start, end int) bool {
	width := 0
	for i := range s.text[start:end] {
		if s.looks[start+i]&reversed != 0 {
			width++
			continue
		}
		if width == 1 {
			return true
		}
		width = 0
	}
	return width == 1
}
