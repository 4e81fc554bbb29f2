// Package docs reads the Markdown pages of this repository. Its tests run their commands, validate
// their configurations and follow their links; a new page is covered as soon as it is there.
//
// In a block marked console the output that the page shows is compared with what the command prints; "…" stands for anything.
//
// What stands in a comment on the line above a block decides how it is tested:
//
//	<!-- not run: reason -->    its commands only have to exist
//	<!-- fails: reason -->      its last command has to fail
//
// and anywhere on a page:
//
//	<!-- walked by: test/e2e TestName -->    that test runs the page's commands instead
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is a Markdown file.
type Page struct {
	Name   string // from the root of the repository, with slashes
	Text   string
	Blocks []Block
}

// Block is fenced code.
type Block struct {
	Line     int // of its first fence
	Language string
	Text     string
	Note     string // the comment on the line above
}

// Pages are all pages below a directory, except those of tests and of other projects.
func Pages(root string) (pages []Page, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"node_modules", "testdata", "spec", "bin", "site", "pages"}, entry.Name())) {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		pages = append(pages, Read(filepath.ToSlash(name), string(text)))
		return err
	})
	return pages, err
}

// Read reads a page.
func Read(name, text string) Page {
	p := Page{Name: name, Text: text}
	var open *Block
	indent, above := "", ""
	for number, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		language, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case open == nil && fence:
			indent = line[:len(line)-len(trimmed)]
			open = &Block{Line: number + 1, Language: strings.TrimSpace(language), Note: note(above)}
		case open != nil && fence:
			p.Blocks = append(p.Blocks, *open)
			open = nil
		case open != nil:
			open.Text += strings.TrimPrefix(line, indent) + "\n"
		}
		above = line
	}
	return p
}

func note(line string) string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "<!--") || !strings.HasSuffix(line, "-->") {
		return ""
	}
	return strings.TrimSpace(line[len("<!--") : len(line)-len("-->")])
}

// IsShell reports whether a block holds commands that can be copied and run.
func (b Block) IsShell() bool { return b.Language == "sh" || b.Language == "console" }

// Script is a shell block as a script. In a console block a command follows "$ ", and its output is below it.
func (b Block) Script() string {
	if b.Language != "console" {
		return b.Text
	}
	var script strings.Builder
	for _, shown := range b.Console() {
		script.WriteString(shown.Command + "\n")
	}
	return script.String()
}

// NotRun reports whether a block says that it cannot be run in a test.
func (b Block) NotRun() bool { return strings.HasPrefix(b.Note, "not run: ") }

// Fails reports whether a block says that it fails.
func (b Block) Fails() bool { return strings.HasPrefix(b.Note, "fails: ") }

var walkedBy = regexp.MustCompile(`<!-- walked by: (\S+ \w+) -->`)

// WalkedBy is the test that runs the page's commands, as "folder TestName"; empty for most.
func (p Page) WalkedBy() string {
	if match := walkedBy.FindStringSubmatch(p.Text); match != nil {
		return match[1]
	}
	return ""
}

// Prose is the text without its blocks, line by line.
func (p Page) Prose() []string {
	lines := strings.Split(p.Text, "\n")
	for _, b := range p.Blocks {
		for i := range strings.Count(b.Text, "\n") + 2 {
			lines[b.Line-1+i] = ""
		}
	}
	return lines
}
