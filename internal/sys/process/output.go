package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxTail bounds the kept output in bytes: a reason goes to a model.
const maxTail = 64 << 10

// tail keeps the last lines of what is written to it, in constant memory.
type tail struct {
	mu    sync.Mutex
	lines int
	buf   []byte
	cut   bool
	copy  io.Writer // may be nil
}

func newTail(lines int) *tail {
	if lines <= 0 {
		lines = 40
	}
	return &tail{lines: lines}
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.pass(p)
	if len(p) > maxTail {
		p, t.cut = p[len(p)-maxTail:], true
	}
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*maxTail {
		t.buf, t.cut = append(t.buf[:0], t.buf[len(t.buf)-maxTail:]...), true
	}
	return n, nil
}

// pass gives output to whoever wanted a copy.
func (t *tail) pass(p []byte) {
	if t.copy != nil {
		_, _ = t.copy.Write(p) // never fails
	}
}

// guarded writes to a writer of the caller's. A panic of theirs would end the
// process, from a goroutine that nobody can recover, and Claude Code takes that for
// a block: they get no more then. Nor does an error of theirs stop the command:
// whoever gave the writer knows whether it failed.
type guarded struct{ to io.Writer }

func (g *guarded) Write(p []byte) (n int, err error) {
	if g.to == nil {
		return len(p), nil
	}
	defer func() {
		if recover() != nil {
			g.to = nil
		}
		n, err = len(p), nil
	}()
	return g.to.Write(p)
}

// String is the kept output, valid UTF-8, without trailing white space. Where
// something is missing before it, its first line says so.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, cut := t.buf, t.cut
	if len(text) > maxTail {
		text, cut = text[len(text)-maxTail:], true
	}
	text = bytes.TrimRight(text, " \t\r\n")
	for i, lines := len(text), 0; i > 0; {
		i = bytes.LastIndexByte(text[:i], '\n')
		if lines++; i >= 0 && lines == t.lines {
			text, cut = text[i+1:], true
			break
		}
	}
	out := strings.ToValidUTF8(string(text), "\uFFFD")
	if cut {
		out = "[…]\n" + out
	}
	return out
}

// head keeps the first bytes of what is written to it.
type head struct {
	mu    sync.Mutex
	limit int
	buf   []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := h.limit - len(h.buf); room > 0 {
		h.buf = append(h.buf, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (h *head) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.buf)
}
