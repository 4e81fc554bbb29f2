package plain

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Writer is the last thing before a person's screen. What programs wrote that steers a
// terminal or cannot be seen, it writes in escapes, so that nothing is hidden either. It passes
// lines, tabs and the few colours that we use ourselves. What others chose must not have
// a newline in it before it comes here: see Name and Line.
func Writer(w io.Writer) io.Writer { return &writer{to: w} }

type writer struct {
	to   io.Writer
	rest []byte // the beginning of a character or of a colour
}

// colours are those of our own output.
var colours = [][]byte{[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[2m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m")}

func (w *writer) Write(p []byte) (int, error) {
	text := slices.Concat(w.rest, p)
	w.rest = nil
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if colour, begun := colourAt(text); colour != nil || begun {
			if begun {
				w.rest = text
				break
			}
			out, text = append(out, colour...), text[len(colour):]
			continue
		}
		if !utf8.FullRune(text) {
			w.rest = text
			break
		}
		r, size := utf8.DecodeRune(text)
		out, text = appendVisible(out, r, text[:size]), text[size:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// colourAt is the colour that the text begins with; begun says that it may be one, but ends too
// early.
func colourAt(text []byte) (colour []byte, begun bool) {
	for _, c := range colours {
		if bytes.HasPrefix(text, c) {
			return c, false
		}
		begun = begun || len(text) < len(c) && bytes.HasPrefix(c, text)
	}
	return nil, begun
}

func appendVisible(out []byte, r rune, raw []byte) []byte {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return append(out, "\uFFFD"...)
	case r == '\n' || r == '\t' || unicode.IsPrint(r):
		return append(out, raw...)
	case r == '\r':
		return out // a line that was drawn several times over itself
	case unicode.IsSpace(r):
		return append(out, ' ')
	}
	quoted := strconv.AppendQuoteRuneToASCII(nil, r)
	return append(out, quoted[1:len(quoted)-1]...)
}
