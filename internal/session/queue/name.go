package queue

import (
	"net/url"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/digest"
)

const prefix = "queue-"

// maxName leaves room for what is added to a session's name in the name of a file.
const maxName = 180

// fileName is a session's name as a part of the name of a file. tmux lets a session
// be called nearly anything; it has no dots, by which our files are told apart.
func fileName(session string) string {
	var b strings.Builder
	for _, c := range []byte(session) {
		if c >= 0x80 || c == '-' || c == '_' || c == ' ' || c == '+' || c == '@' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			b.WriteByte(c)
			continue
		}
		const digits = "0123456789ABCDEF"
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	name := b.String()
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName-20], "") + "~" + digest.Hex(session)[:16]
}

// sessionOf is the session whose queue a file is, if it is one.
func sessionOf(file string) (session string, isQueue bool) {
	name, isQueue := strings.CutPrefix(file, prefix)
	if !isQueue {
		return "", false
	}
	name, isQueue = strings.CutSuffix(name, ".json")
	if !isQueue || strings.Contains(name, ".") {
		return "", false
	}
	if session, err := url.PathUnescape(name); err == nil {
		return session, true
	}
	return name, true
}
