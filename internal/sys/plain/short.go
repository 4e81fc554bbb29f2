package plain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Clip is the first characters of a text, with dots behind them where there are more.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most]) + "…"
	}
	return text
}

// Fit is Clip with the dots among the characters.
func Fit(text string, most int) string {
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most-1]) + "…"
	}
	return text
}

// Head is the longest beginning of a text within both bounds, of whole characters.
func Head(text string, characters, size int) string {
	end := 0
	for ; characters > 0 && end < len(text); characters-- {
		_, width := utf8.DecodeRuneInString(text[end:])
		if end+width > size {
			break
		}
		end += width
	}
	return text[:end]
}

// Tail is the longest end of a text, likewise.
func Tail(text string, characters, size int) string {
	start := len(text)
	for ; characters > 0 && start > 0; characters-- {
		_, width := utf8.DecodeLastRuneInString(text[:start])
		if len(text)-start+width > size {
			break
		}
		start -= width
	}
	return text[start:]
}

// Cut shortens a text to that many bytes, at a whole character. The dots at its end are among them.
func Cut(text string, size int) string {
	const mark = "…"
	if len(text) <= size {
		return text
	}
	if size < len(mark) {
		return ""
	}
	return strings.ToValidUTF8(text[:size-len(mark)], "") + mark
}

// Short makes one plain line of at most that many bytes of a text, which may be any bytes.
func Short(text string, size int) string {
	text = text[:min(len(text), 4*size)] // what follows is cut off anyway
	return Cut(Line(strings.ToValidUTF8(text, "�")), size)
}

// FirstLine is the first line of a text that is not blank.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// LastLine is where programs say what went wrong.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// LastLines are the last lines of a text.
func LastLines(text string, most int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

// CutLast is strings.Cut around the last separator.
func CutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// Few are the first of many items, and how many more there are.
func Few(items []string, most int) []string {
	if more := len(items) - most; more > 0 {
		return append(items[:most:most], fmt.Sprintf("and %d more", more))
	}
	return items
}

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Clock is a time of today, or a time with its day, where now is.
func Clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Duration writes 1h0m0s as 1h, in the form that time.ParseDuration reads.
func Duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
