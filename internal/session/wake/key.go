package wake

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Key makes the key of a letter from what makes its news the same news.
func Key(parts ...string) string {
	var text []byte
	for _, part := range parts {
		// The length keeps "a", "bc" apart from "ab", "c".
		text = strconv.AppendInt(text, int64(len(part)), 10)
		text = append(text, ':')
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// maxKey leaves room in a file's name.
const maxKey = 128

// isKey tells whether a key can be part of a file's name.
func isKey(key string) bool {
	for i := range len(key) {
		if c := key[i]; !isAlphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return key != "" && len(key) <= maxKey
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
