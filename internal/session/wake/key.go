package wake

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/plain"
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
	return digest.Hex(text)[:32]
}

// maxKey leaves room in a file's name.
const maxKey = 128

// isKey tells whether a key can be part of a file's name.
func isKey(key string) bool { return plain.IsName(key, maxKey) }
