package gauntlet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ID names the job in logs, in the ledger and on the command line. It is UTF-8
// whatever the name of a folder is.
func (j *Job) ID() string { return jobID(j.Kind, j.Entry, j.Gate().Name) }

func jobID(kind Kind, entry, name string) string {
	return string(kind) + ":" + escape(entry) + ":" + name
}

// standsFor reports whether the job, or one that it runs for, has the id.
func (j *Job) standsFor(id string) bool {
	return j.ID() == id || slices.ContainsFunc(j.also, func(other *Job) bool { return other.ID() == id })
}

// entryOf is the entry in a job's id. A gate's name holds no colon; a path may.
func entryOf(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	return unescape(rest[:max(0, strings.LastIndexByte(rest, ':'))])
}

// escape writes bytes that are no character as \xNN, and a backslash twice, so that
// two paths never read alike.
func escape(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, `\`) {
		return path
	}
	var b strings.Builder
	for i, width := 0, 0; i < len(path); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(path[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			fmt.Fprintf(&b, `\x%02x`, path[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(path[i : i+width])
		}
	}
	return b.String()
}

// unescape takes back what escape did.
func unescape(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if len(after) >= 3 && after[0] == 'x' {
			if n, err := strconv.ParseUint(after[1:3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				text = after[3:]
				continue
			}
		}
		b.WriteByte('\\')
		text = strings.TrimPrefix(after, `\`)
	}
}
