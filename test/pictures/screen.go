// Package pictures draws terminals as SVG: stills, and films that run by a CSS animation, which
// GitHub shows in an <img>. "make pictures" records docs/pictures with it.
//
// tmux is the terminal emulator, so what is left to do is to turn colored lines into text
// elements. No tool that does so fits: svg-term-cli and termtosvg are no longer maintained, agg and vhs
// write GIFs (larger, and blurred on dense screens) and need programs that Debian does not have,
// and freeze draws stills only.
package pictures

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Screen is what a terminal shows.
type Screen [][]Run

// Run is text of one style in a row.
type Run struct {
	Column int
	Text   string
	Style  Style
}

// Style is how text looks. A color is a CSS color, or empty for the default.
type Style struct {
	Color, Background             string
	Bold, Dim, Italic, Underlined bool
}

// Parse reads the output of tmux capture-pane -e: lines with SGR sequences.
func Parse(captured string) Screen {
	var screen Screen
	p := pen{}
	for line := range strings.SplitSeq(strings.TrimRight(captured, "\n"), "\n") {
		screen = append(screen, p.row(line))
	}
	return screen
}

// String is the screen's text, without trailing spaces.
func (s Screen) String() string {
	var lines []string
	for _, row := range s {
		lines = append(lines, rowText(row))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func rowText(row []Run) string {
	var line strings.Builder
	column := 0
	for _, run := range row {
		line.WriteString(strings.Repeat(" ", max(0, run.Column-column)))
		line.WriteString(run.Text)
		column = run.Column + utf8.RuneCountInString(run.Text)
	}
	return strings.TrimRight(line.String(), " ")
}

// pen is the style of what comes next.
type pen struct {
	Style
	reversed bool
}

func (p *pen) row(line string) (row []Run) {
	column := 0
	for line != "" {
		if sequence, rest, ok := cutEscape(line); ok {
			p.apply(sequence)
			line = rest
			continue
		}
		text := line
		if i := strings.IndexByte(line[1:], '\x1b'); i >= 0 {
			text = line[:i+1]
		}
		line = line[len(text):]
		if run := (Run{column, text, p.style()}); visible(run) {
			row = append(row, run)
		}
		column += utf8.RuneCountInString(text)
	}
	return row
}

func visible(r Run) bool {
	return strings.TrimSpace(r.Text) != "" || r.Style.Background != "" || r.Style.Underlined
}

// cutEscape takes an escape sequence off the front of a line. Of those other than SGR, tmux writes
// hyperlinks only.
func cutEscape(line string) (parameters, rest string, ok bool) {
	switch {
	case strings.HasPrefix(line, "\x1b["):
		end := strings.IndexByte(line, 'm')
		return line[2:end], line[end+1:], true
	case strings.HasPrefix(line, "\x1b]"):
		_, rest, _ = strings.Cut(line, "\x1b\\")
		return "-", rest, true
	}
	return "", line, false
}

func (p *pen) apply(parameters string) {
	codes := strings.Split(parameters, ";")
	for len(codes) > 0 {
		code, _ := strconv.Atoi(codes[0])
		codes = codes[1:]
		switch {
		case code == 38 || code == 48:
			color, used := extended(codes)
			codes = codes[used:]
			p.paint(code-38, color)
		case code >= 30 && code <= 37, code >= 40 && code <= 47:
			p.paint(code/40*10, palette(code%10))
		case code >= 90 && code <= 97, code >= 100 && code <= 107:
			p.paint(code/100*10, palette(code%10+8))
		case code == 39 || code == 49:
			p.paint(code-39, "")
		default:
			p.attribute(code)
		}
	}
}

// paint sets the color of the text, or with 10 of what is behind it.
func (p *pen) paint(where int, color string) {
	if where == 0 {
		p.Color = color
		return
	}
	p.Background = color
}

func (p *pen) attribute(code int) {
	switch code {
	case 0:
		*p = pen{}
	case 1:
		p.Bold = true
	case 2:
		p.Dim = true
	case 3:
		p.Italic = true
	case 4:
		p.Underlined = true
	case 7:
		p.reversed = true
	case 22:
		p.Bold, p.Dim = false, false
	case 23:
		p.Italic = false
	case 24:
		p.Underlined = false
	case 27:
		p.reversed = false
	}
}

func (p *pen) style() Style {
	s := p.Style
	if p.reversed {
		s.Color, s.Background = or(s.Background, background), or(s.Color, foreground)
	}
	return s
}

func or(color, otherwise string) string {
	if color == "" {
		return otherwise
	}
	return color
}
