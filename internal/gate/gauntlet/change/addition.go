package change

import (
	"bytes"
	"fmt"
)

// addition writes a file as git would show one that is new. The content need
// not be whole if it is longer than the diff may be.
func (p *patch) addition(name, mode string, content []byte) {
	if isBinary(content) {
		p.absent("Binary file ", name, " changed", IsBinary)
		return
	}
	old, now := Quote("a/"+name), Quote("b/"+name)
	p.file = section{name: name, shown: Quote(name), wanted: true, lines: 1}
	p.file.header = fmt.Appendf(nil, "diff --git %s %s\nnew file mode %s\n", old, now, mode)
	if len(content) > 0 {
		p.file.header = fmt.Appendf(p.file.header, "--- /dev/null\n+++ %s\n", now)
		p.file.hunk, p.file.inHunk = newHunk(content), true
	}
	p.flush()
}

// newHunk is the hunk that adds all lines of a content.
func newHunk(content []byte) []byte {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	hunk := make([]byte, 0, len(content)+len(lines)+64)
	hunk = fmt.Appendf(hunk, "@@ -0,0 +1,%d @@\n", len(lines))
	for _, line := range lines {
		hunk = append(append(hunk, '+'), line...)
	}
	if !bytes.HasSuffix(content, []byte("\n")) {
		hunk = append(hunk, "\n\\ No newline at end of file\n"...)
	}
	return hunk
}

// isBinary looks, as git does, for a NUL near the beginning.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}
