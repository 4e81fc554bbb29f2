package terminal

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is how many bytes a text may have.
const MaxText = 1 << 20

// Check refuses what must not be typed: control characters other than newline and tab,
// which a terminal takes for keys or for the end of a paste, text that is not UTF-8,
// blank text, and more than MaxText.
func Check(text string) error {
	if len(text) > MaxText {
		return fmt.Errorf("the text has %d bytes; at most %d can be typed", len(text), MaxText)
	}
	for i, r := range text {
		if fault := refuse(text[i:], r); fault != "" {
			return fmt.Errorf("%s at %s", fault, position(text[:i]))
		}
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the text is blank")
	}
	return nil
}

// refuse says what is wrong with the character that the rest begins with.
func refuse(rest string, r rune) string {
	switch {
	case r == utf8.RuneError && !strings.HasPrefix(rest, "\uFFFD"):
		return fmt.Sprintf("byte 0x%02X is not UTF-8", rest[0])
	case r == '\n' || r == '\t':
		return ""
	case r == '\r':
		return `carriage return (use \n for a new line)`
	case unicode.IsControl(r):
		return fmt.Sprintf("control character U+%04X", r)
	}
	return ""
}

// position is where the next character stands, for a person.
func position(before string) string {
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
