package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// OlderFile is a file of .gauntlet, or the global config, as agent-gauntlet has written it.
type OlderFile struct {
	Path  string // on disk
	Shown string
	kind  string
}

// OlderFiles are the files in dir that agent-gauntlet reads and that exist, as if dir were shown.
func OlderFiles(dir, shown string) (all []OlderFile) {
	for _, folder := range []string{checksFolder, reviewsFolder} {
		files, _ := listGates(dir, shown, folder)
		for _, file := range files {
			all = append(all, OlderFile{file.path, file.shown, strings.TrimSuffix(folder, "s")})
		}
	}
	return all
}

// NewOlderFile is a file that is of a kind by its place: project, ci or global.
func NewOlderFile(kind, path, shown string) OlderFile { return OlderFile{path, shown, kind} }

// Kind is what the file is: project, ci, global, check or review.
func (f OlderFile) Kind() string { return f.kind }

// Gate is the name of the check or review that the file is about.
func (f OlderFile) Gate() string {
	return strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
}

// Ignored are the faults of the text that are about keys which agent-gauntlet ignores: those that nothing
// reads, and a name in a gate's own file. Others are faults to both.
func (f OlderFile) Ignored(text []byte) (ignored, others document.All) {
	faults, ok := errors.AsType[*document.Faults](f.parse(text))
	if !ok {
		return nil, nil
	}
	for _, fault := range faults.All {
		if strings.HasPrefix(fault.Message, "unknown key ") || strings.HasPrefix(fault.Message, "name: must be the name of the file") {
			ignored = append(ignored, fault)
		} else {
			others = append(others, fault)
		}
	}
	return ignored, others
}

// markdown reports whether the keys of the file are above a text.
func (f OlderFile) markdown() bool { return f.kind == "review" && filepath.Ext(f.Path) == ".md" }

func (f OlderFile) parse(text []byte) (err error) {
	gate := f.Gate()
	switch f.kind {
	case "check":
		return parseCheck(f.Shown, text, newCheck(gate))
	case "review":
		if f.markdown() {
			return parseReviewMarkdown(f.Shown, text, newReview(gate, nil))
		}
		return parseReviewYAML(f.Shown, text, newReview(gate, nil))
	case "ci":
		_, err = ParseCI(f.Shown, text)
	case "global":
		_, err = parseGlobal(f.Shown, text)
	default:
		_, err = parseProject(f.Shown, text)
	}
	return err
}

// CommentOut makes a comment of the key that a fault of Ignored is about and of what is under it. It reports
// whether it could: everything else in the file means the same afterwards. A key in braces may share its
// lines with others, and with whole gates; then the text stays as it is.
func (f OlderFile) CommentOut(text []byte, fault document.Fault) (after []byte, ok bool) {
	after = commentOut(text, fault.Line)
	want, err := f.contents(text, fault.Position)
	if err != nil {
		return text, false
	}
	got, err := f.contents(after, document.Position{})
	if err != nil || !slices.Equal(got, want) {
		return text, false
	}
	return after, true
}

// commentOut makes a comment of the key on a line and of what is under it.
func commentOut(text []byte, line int) []byte {
	p := page{lines: strings.Split(string(text), "\n")}
	if line < 1 || line > len(p.lines) {
		return text
	}
	first := p.lines[line-1]
	indent := len(first) - len(strings.TrimLeft(first, " "))
	if rest, isItem := strings.CutPrefix(first[indent:], "- "); isItem { // its dash stays
		indent = len(first) - len(strings.TrimLeft(rest, " "))
	}
	lines := slices.Clone(p.lines)
	for i := line - 1; i < p.blockEnd(line, indent); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		at := min(indent, len(lines[i])-len(strings.TrimLeft(lines[i], " ")))
		if i == line-1 {
			at = indent
		}
		lines[i] = lines[i][:at] + "# " + lines[i][at:]
	}
	return []byte(strings.Join(lines, "\n"))
}
