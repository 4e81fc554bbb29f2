package plain

import "strings"

// Coloured makes lines of a terminal's screen that keep the escape sequences of colours and other
// looks, and no others.
func Coloured(text string) string {
	var b strings.Builder
	for text != "" {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			at = len(text)
		}
		b.WriteString(Words(text[:at]))
		text = text[at:]
		look := lookOf(text)
		b.WriteString(look)
		if look != "" {
			text = text[len(look):]
			continue
		}
		text, _ = CutEscape(text)
	}
	return b.String()
}

// lookOf is the sequence that a text begins with, where that is one of a look: ESC [ numbers m.
func lookOf(text string) string {
	numbers, is := strings.CutPrefix(text, "\x1b[")
	end := strings.IndexFunc(numbers, func(r rune) bool { return !strings.ContainsRune("0123456789;:", r) })
	const most = 64 // the longest that programs use have 20
	if !is || end < 0 || end > most || numbers[end] != 'm' {
		return ""
	}
	return text[:len("\x1b[")+end+1]
}
