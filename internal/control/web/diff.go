package web

import (
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostFileLines and mostDiffLines are how many lines of a file, and of all files, a page has.
	mostFileLines = 300
	mostDiffLines = 1200
	// shortFile is how many lines a file may have that is open at once.
	shortFile = 40
)

// Diff is what was changed in a working tree.
type Diff struct {
	Text    string // a unified diff
	Cut     bool   // something is not in it
	Unnamed int    // how many files are not even named
}

// NotShown begins the line of a diff that says what a file is whose content is not in it.
const NotShown = "not shown: "

// diffFile is what was changed in a file.
type diffFile struct {
	Name           string
	Added, Removed int
	Notes          []string // what there is to say besides its lines
	Lines          []diffLine
	Left           int // lines that are not shown
	Open           bool
}

// diffLine is a line of a diff: added, removed, the place of what follows, or the same in both.
type diffLine struct {
	Kind string // add, del, at, ""
	Text string // with its sign
}

// parseDiff reads a unified diff, as git makes it without renames.
func parseDiff(text string) []*diffFile {
	var files []*diffFile
	var file *diffFile
	shown, hunk := 0, false

	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if header, is := strings.CutPrefix(line, "diff --git "); is {
			file, hunk = &diffFile{Name: plain.Clip(plain.Line(NameIn(header)), 300)}, false
			files = append(files, file)
			continue
		}
		if file == nil {
			continue
		}

		kind := ""
		switch {
		case strings.HasPrefix(line, "@@"):
			kind, hunk = "at", true
		case !hunk:
			file.note(line)
			continue
		case strings.HasPrefix(line, "+"):
			kind = "add"
			file.Added++
		case strings.HasPrefix(line, "-"):
			kind = "del"
			file.Removed++
		}

		if len(file.Lines) == mostFileLines || shown == mostDiffLines {
			file.Left++
			continue
		}
		file.Lines = append(file.Lines, diffLine{kind, plain.Text(line)})
		shown++
	}

	files = changed(files)
	for i, f := range files {
		f.Open = len(f.Lines) <= shortFile && i < 3 && len(f.Lines) > 0
	}
	return files
}

// note notes what a line of a file's header says that its lines do not: an empty file has none.
func (f *diffFile) note(line string) {
	if what, is := strings.CutPrefix(line, NotShown); is {
		f.Notes = append(f.Notes, plain.Clip(plain.Line(what), 300)+", not shown")
	}
	if mode, is := strings.CutPrefix(line, "new mode "); is {
		f.Notes = append(f.Notes, "its mode is "+plain.Line(mode)+" now")
	}
	for prefix, note := range map[string]string{
		"Binary files ": "binary, not shown", "new file": "new file", "deleted file mode ": "deleted",
	} {
		if strings.HasPrefix(line, prefix) {
			f.Notes = append(f.Notes, note)
		}
	}
}

// changed are the files with a change: one that was only touched has a header alone.
func changed(files []*diffFile) (some []*diffFile) {
	for _, f := range files {
		if len(f.Lines) > 0 || f.Left > 0 || len(f.Notes) > 0 {
			some = append(some, f)
		}
	}
	return some
}

// NameIn is the name in a header such as a/NAME b/NAME, where both names are the same. Git quotes odd ones.
func NameIn(header string) string {
	half := header[:len(header)/2]
	if strings.HasPrefix(half, `"a/`) {
		return `"` + half[3:]
	}
	return half[min(2, len(half)):]
}
