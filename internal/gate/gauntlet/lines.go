package gauntlet

import (
	"bytes"
	"strings"
)

// lines cuts output into lines and passes on the last whole one of each write.
type lines struct {
	say  func(string)
	part []byte
}

// maxLine bounds what is kept of a line that does not end.
const maxLine = 4 << 10

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		whole := p[:i]
		start := bytes.LastIndexByte(whole, '\n') + 1
		line := whole[start:]
		if start == 0 {
			line = append(l.part, line...)
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			l.say(text)
		}
		l.part, p = nil, p[i+1:]
	}
	if len(l.part)+len(p) <= maxLine {
		l.part = append(l.part, p...)
	}
	return n, nil
}
