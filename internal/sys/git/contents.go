package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
)

// Stored is a file as git has it.
type Stored struct {
	Blob
	Path string // from the top of the work tree: attributes say how git writes it there
}

const linkMode = "120000"

// Revision is a file in two trees. One that is not there has no mode.
type Revision struct{ From, To Blob }

// Revised gives the files in which two commits or trees differ, wherever they are in the work tree, by their paths from
// its top. Both must be ids that git gave.
func (r Repo) Revised(ctx context.Context, from, to string) (map[string]Revision, error) {
	out, err := r.output(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", from, to, "--")
	if err != nil {
		return nil, err
	}
	revised := map[string]Revision{}
	var revision *Revision
	for record := range records(out) {
		if revision != nil {
			revised[record], revision = *revision, nil
			continue
		}
		if field := strings.Fields(strings.TrimPrefix(record, ":")); len(field) == 5 {
			revision = &Revision{From: blobOf(field[0], field[2]), To: blobOf(field[1], field[3])}
		}
	}
	return revised, nil
}

func blobOf(mode, id string) Blob {
	if strings.Trim(mode, "0") == "" {
		return Blob{}
	}
	return Blob{mode, id}
}

// Contents calls each with the index and the content of every file, as git would write it into the
// work tree, unless it is larger than most. The ids must be ones that git gave. The content is each's
// only while it is called. It starts two processes at most, however many files there are.
func (r Repo) Contents(ctx context.Context, files []Stored, most int, each func(i int, content []byte)) error {
	var regular, links []int
	for i, file := range files {
		if file.Mode == linkMode {
			links = append(links, i)
		} else {
			regular = append(regular, i)
		}
	}
	if err := r.contents(ctx, files, regular, most, each, "--filters"); err != nil {
		return err
	}
	return r.contents(ctx, files, links, most, each)
}

func (r Repo) contents(ctx context.Context, files []Stored, which []int, most int, each func(i int, content []byte), options ...string) error {
	if len(which) == 0 {
		return nil
	}
	lines := make([]string, len(which))
	for n, i := range which {
		lines[n] = files[i].ID
		if len(options) > 0 {
			lines[n] += " " + strings.ReplaceAll(files[i].Path, "\n", "?") // a line cannot hold it
		}
	}
	// With filters git does not say how long a content is, so a word that no file can have is
	// before each.
	mark := rand.Text()
	out := &marked{mark: []byte(mark + "\n"), most: most, each: func(n int, content []byte) { each(which[n], content) }, n: -1}
	args := append([]string{"cat-file", "--buffer", "--batch=" + mark}, options...)
	if err := r.feed(ctx, lines, out, args...); err != nil {
		return err
	}
	if out.end(); out.n != len(which) {
		return fmt.Errorf("git cat-file: %d contents for %d files", out.n, len(which))
	}
	return nil
}

// marked takes contents, each with a line before it and the end of a line after it.
type marked struct {
	mark []byte
	most int
	each func(n int, content []byte)

	n        int // which is being written; -1 before the first
	content  []byte
	looked   int  // how much of it has no mark
	tooLarge bool // it is larger than most
}

func (m *marked) Write(data []byte) (int, error) {
	m.content = append(m.content, data...)
	for {
		from := max(0, m.looked-len(m.mark))
		at := bytes.Index(m.content[from:], m.mark)
		if at < 0 {
			break
		}
		rest := m.content[from+at+len(m.mark):]
		m.content = m.content[:from+at]
		m.end()
		m.content = append(m.content[:0], rest...)
	}
	if m.looked = len(m.content); m.looked > m.most+len(m.mark)+1 {
		m.tooLarge = true
		m.content = append(m.content[:0], m.content[m.looked-len(m.mark):]...)
		m.looked = len(m.content)
	}
	return len(data), nil
}

// end ends the present content.
func (m *marked) end() {
	content := bytes.TrimSuffix(m.content, []byte("\n"))
	if m.n >= 0 && !m.tooLarge && len(content) <= m.most {
		m.each(m.n, content)
	}
	m.n++
	m.content, m.looked, m.tooLarge = m.content[:0], 0, false
}
