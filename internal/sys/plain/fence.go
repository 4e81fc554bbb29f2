package plain

import "strings"

// Fence puts a text between two lines of backticks that it cannot close, and says how many they have.
func Fence(language, text string) (fenced string, ticks int) {
	ticks = 3
	for rest := text; ; {
		at := strings.IndexByte(rest, '`')
		if at < 0 {
			break
		}
		after := strings.TrimLeft(rest[at:], "`")
		ticks = max(ticks, len(rest)-at-len(after)+1)
		rest = after
	}
	line := strings.Repeat("`", ticks)
	return line + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + line + "\n", ticks
}
