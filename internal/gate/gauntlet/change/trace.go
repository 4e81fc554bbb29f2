package change

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Trace knows a file's content again where the file has moved and was edited a little: the
// hashes of some of its lines, always the same ones, in hexadecimal digits. It is empty for
// an empty file.
type Trace string

// traceLines is enough to tell files apart, and little to keep.
const traceLines = 32

// traceOf is the trace of a content.
func traceOf(content []byte) Trace {
	hashes := lineHashes(content, 8)
	if len(hashes) < 4 { // in a short file every line counts
		hashes = lineHashes(content, 1)
	}
	all := slices.Sorted(maps.Keys(hashes))
	var trace strings.Builder
	for _, hash := range all[:min(len(all), traceLines)] {
		fmt.Fprintf(&trace, "%08x", hash)
	}
	return Trace(trace.String())
}

// hashes are those of the trace. Anything else in it is skipped.
func (t Trace) hashes() (all []uint32) {
	for digits := range slices.Chunk([]byte(t), 8) {
		if hash, err := strconv.ParseUint(string(digits), 16, 32); err == nil {
			all = append(all, uint32(hash))
		}
	}
	return all
}

// Leads reports whether the content is for the most part the one that the trace is of.
func (t Trace) Leads(content []byte) bool {
	wanted := t.hashes()
	if len(wanted) == 0 {
		return false
	}
	lines, found := lineHashes(content, 1), 0
	for _, hash := range wanted {
		if lines[hash] {
			found++
		}
	}
	return 2*found > len(wanted)
}

// lineHashes are those of the lines with so many bytes, without the space around them. What is not
// text counts too: a NUL in a line makes a file binary for git, and no other one of it.
func lineHashes(content []byte, least int) map[uint32]bool {
	hashes := map[uint32]bool{}
	for line := range bytes.Lines(content) {
		if line = bytes.TrimSpace(line); len(line) >= least {
			h := fnv.New32a()
			h.Write(line)
			hashes[h.Sum32()] = true
		}
	}
	return hashes
}
