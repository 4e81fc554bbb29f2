// Package digest names contents by their hash, also where a text from outside becomes the name of a
// file.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hex is the SHA-256 of a text: 64 hexadecimal digits. Callers keep as many as they need.
func Hex[T ~string | ~[]byte](text T) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
