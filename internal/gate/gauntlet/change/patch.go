package change

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// patch takes a unified diff as git writes it, leaves out files that are not
// wanted, and keeps whole hunks as long as there is room.
type patch struct {
	include func(name string) bool
	limit   int

	out     []byte
	left    []string // files for which there was no room, as git spells them
	missing []Missing
	sights  map[string]sight
	binary  []string // files that git calls binary
	asText  bool     // git was told to call nothing binary

	// heading is for a diff of several commits, each after a line with its id: what to write in place
	// of that line, if a file follows.
	heading  func(id string) string
	from, to int // where the last heading begins and ends

	partial []byte // a line of which more is to come
	file    section
}

// section is the part of a diff that is about one file.
type section struct {
	name   string
	shown  string // as git spells the name
	header []byte // lines before the first hunk that are not written yet
	lines  int    // of the header
	hunk   []byte
	begin  int // where it begins in the diff
	wanted bool
	binary bool
	inHunk bool
	full   bool // a hunk did not fit
	gone   bool // it shows that the file was deleted
	link   bool // to a commit of another repository
}

// aside is a patch of its own, about some of the files, for the room that is left.
func (p *patch) aside(include func(name string) bool) *patch {
	return &patch{
		limit: max(0, p.limit-len(p.out)), sights: map[string]sight{},
		include: func(name string) bool { return p.include(name) && include(name) },
	}
}

// join adds what a patch aside shows, and what it does not.
func (p *patch) join(aside *patch) {
	aside.flush()
	aside.endCommit()
	p.out = append(p.out, aside.out...)
	p.left = append(p.left, aside.left...)
	p.missing = append(p.missing, aside.missing...)
}

// startCommit begins with another commit.
func (p *patch) startCommit(id string) {
	p.flush()
	p.endCommit()
	p.from = len(p.out)
	p.out = append(p.out, p.heading(id)...)
	p.to = len(p.out)
}

// endCommit takes a heading back that no file follows.
func (p *patch) endCommit() {
	if len(p.out) == p.to {
		p.out = p.out[:p.from]
	}
}

// Write takes the next part of the diff.
func (p *patch) Write(data []byte) (int, error) {
	n := len(data)
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		p.take(p.keep(data[:i+1]))
		p.partial, data = p.partial[:0], data[i+1:]
	}
	p.partial = p.keep(data)
	return n, nil
}

// keep adds to the unfinished line. A line that is longer than the whole diff
// may be is cut: its hunk will not fit. The longest line that is no content has
// two names, in which every byte may be written as four.
func (p *patch) keep(data []byte) []byte {
	const names = 2 * 4 * 4096
	return append(p.partial, data[:min(len(data), max(0, p.limit+names-len(p.partial)))]...)
}

// take handles one line. Within hunks each begins with a sign of its own, so no
// content looks like a header.
func (p *patch) take(line []byte) {
	f := &p.file
	switch {
	case p.heading != nil && isIDLine(line):
		p.startCommit(string(line[:len(line)-1]))
	case bytes.HasPrefix(line, []byte("diff --git ")):
		p.flush()
		f.start(string(bytes.TrimSuffix(line, []byte("\n"))))
		f.wanted, f.begin = f.name != "" && p.include(f.name), len(p.out)
		f.header = append(f.header, line...)
	case !f.wanted:
	case bytes.HasPrefix(line, []byte("@@ ")):
		p.flushHunk()
		f.inHunk = true
		f.hunk = append(f.hunk, line...)
	case f.inHunk:
		f.binary = f.binary || p.asText && bytes.IndexByte(line, 0) >= 0
		if len(f.hunk) <= p.limit { // else it is too long already
			f.hunk = append(f.hunk, line...)
		}
	default:
		f.lines++
		f.about(line)
		f.header = append(f.header, line...)
	}
}

// isIDLine reports whether a line is the id of a commit.
func isIDLine(line []byte) bool {
	return git.IsID(string(bytes.TrimSuffix(line, []byte("\n"))))
}

// about takes what a line of the header says.
func (s *section) about(line []byte) {
	s.binary = s.binary || bytes.HasPrefix(line, []byte("Binary files "))
	s.gone = s.gone || bytes.HasPrefix(line, []byte("deleted file mode "))
	mode := bytes.HasPrefix(line, []byte("index ")) || bytes.Contains(line, []byte("mode "))
	s.link = s.link || mode && bytes.HasSuffix(bytes.TrimSpace(line), []byte(" 160000"))
}

// flush ends the present file. A header without anything after it is a file that
// was touched and not changed.
func (p *patch) flush() {
	f := p.file
	switch {
	case !f.wanted || f.lines == 0 && !f.inHunk:
	case f.binary && f.gone:
		p.out = p.out[:f.begin]
		p.line("Binary file ", f.name, " deleted")
		p.see(f.name, deleted)
	case f.binary && p.asText: // one of its sides is
		p.out = p.out[:f.begin]
		p.absent("Binary file ", f.name, " changed", IsBinary)
	case f.binary:
		p.binary = append(p.binary, f.name)
	default:
		p.flushHunk()
		f = p.file
		if !f.inHunk {
			f.full = !p.put(f.header)
		}
		switch {
		case f.full:
			p.left = append(p.left, f.shown)
			p.miss(f.name, IsCut)
		case f.link:
			p.miss(f.name, IsRepository)
		case f.gone:
			p.see(f.name, deleted)
		default:
			p.see(f.name, seen)
		}
	}
	p.file = section{}
}

// see notes how a file is shown. One that became something else is shown twice, as
// deleted and as new.
func (p *patch) see(name string, how sight) { p.sights[name] = max(p.sights[name], how) }

func (p *patch) miss(name, why string) {
	p.missing = append(p.missing, Missing{name, why})
}

// absent says of a file that it is not shown.
func (p *patch) absent(before, name, after, why string) {
	p.line(before, name, after)
	p.miss(name, why)
}

// flushHunk writes the hunk, after the header if it is the first. Once one does
// not fit, nothing more of the file is shown.
func (p *patch) flushHunk() {
	f := &p.file
	if len(f.hunk) > 0 && !f.full {
		f.full = !p.put(f.header, f.hunk)
		f.header = nil
	}
	f.hunk = f.hunk[:0]
}

// put writes texts that belong together, if there is room for them.
func (p *patch) put(texts ...[]byte) bool {
	size := len(p.out)
	for _, text := range texts {
		size += len(text)
	}
	if size > p.limit {
		return false
	}
	p.out = append(p.out, bytes.Join(texts, nil)...)
	return true
}

// line says something about a file whose content is not shown.
func (p *patch) line(before, name, after string) {
	name = Quote(name)
	if !p.put([]byte(before + name + after + "\n")) {
		p.left = append(p.left, name)
	}
}

// end gives the diff, with a last line about what had no room in it.
func (p *patch) end() []byte {
	p.flush()
	if len(p.left) == 0 {
		return p.out
	}
	const most = 50
	named, more := p.left, ""
	if len(named) > most {
		named, more = named[:most], fmt.Sprintf(" and %d more", len(p.left)-most)
	}
	return fmt.Appendf(p.out, "[The diff is longer than %d bytes. Not shown, or not whole: %s%s]\n", p.limit, strings.Join(named, ", "), more)
}
