package change

import (
	"fmt"
	"strings"
)

// escapes are the characters that git writes with a letter.
const (
	escaped = "\a\b\t\n\v\f\r\"\\"
	letters = `abtnvfr"\`
)

// Quote spells a name as git does in a diff: as it is, or between quotation marks
// if it contains control characters, quotation marks or backslashes.
func Quote(name string) string {
	odd := false
	var out strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case strings.IndexByte(escaped, c) >= 0:
			odd = true
			out.WriteByte('\\')
			out.WriteByte(letters[strings.IndexByte(escaped, c)])
		case c < ' ' || c == 0x7f:
			odd = true
			fmt.Fprintf(&out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
	if !odd {
		return name
	}
	return `"` + out.String() + `"`
}

// unquote is the name that git spelled so. A quoted one that makes no sense gives
// nothing.
func unquote(text string) string {
	inner, quoted := strings.CutPrefix(text, `"`)
	if !quoted {
		return text
	}
	inner, ended := strings.CutSuffix(inner, `"`)
	var out []byte
	for ended && inner != "" {
		if inner[0] != '\\' {
			out, inner = append(out, inner[0]), inner[1:]
			continue
		}
		c, n := unescape(inner[1:])
		if n == 0 {
			return ""
		}
		out, inner = append(out, c), inner[1+n:]
	}
	return string(out)
}

// unescape reads what follows a backslash: one letter or three octal digits.
func unescape(text string) (c byte, n int) {
	if text == "" {
		return 0, 0
	}
	if i := strings.IndexByte(letters, text[0]); i >= 0 {
		return escaped[i], 1
	}
	if len(text) < 3 || text[0] > '3' || strings.Trim(text[:3], "01234567") != "" {
		return 0, 0
	}
	return (text[0]-'0')<<6 | (text[1]-'0')<<3 | (text[2] - '0'), 3
}

// start reads the line that begins a file's section. Both names in it are the
// same, since nothing is shown as moved; that tells where one ends, whatever
// it contains.
func (s *section) start(line string) {
	sides := strings.TrimPrefix(line, "diff --git ")
	half := len(sides) / 2
	old, now := sides[:half], strings.TrimPrefix(sides[half:], " ")
	name, ok := strings.CutPrefix(unquote(old), "a/")
	if !ok || unquote(now) != "b/"+name {
		return // not shown rather than shown under a wrong name
	}
	s.name, s.shown = name, Quote(name)
}
