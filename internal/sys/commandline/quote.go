package commandline

import "strings"

// Quote is a word as a shell takes it. Only what needs quotes has them.
func Quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, IsSpecial) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// IsSpecial reports whether a shell might see more in r than a letter.
func IsSpecial(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("/._-+,:@%", r)
}
