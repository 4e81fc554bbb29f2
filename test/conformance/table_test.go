package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

// row is a line of docs/conformance.md.
type row struct{ spec, item, test string }

func rows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(strings.TrimSpace(cells[0]), "--") {
			continue
		}
		r := row{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.Trim(strings.TrimSpace(cells[2]), "`")}
		if r.spec != "specification" && r.spec != "hole" {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		t.Fatal("the table is empty")
	}
	return out
}

// tests lists the test functions of the repository as "folder TestName".
func tests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(repository, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				found[filepath.ToSlash(folder)+" "+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEveryRowNamesATestThatExists(t *testing.T) {
	existing := tests(t)
	for _, r := range rows(t) {
		name := r.test
		switch file, section, isPage := strings.Cut(name, "#"); {
		case isPage:
			if !slices.Contains(sections(t, file), section) {
				t.Errorf("%s, %s: no section %s", r.spec, r.item, name)
			}
		case strings.HasSuffix(name, ".txtar"):
			if _, err := os.Stat(filepath.Join(repository, name)); err != nil {
				t.Errorf("%s, %s: no script %s", r.spec, r.item, name)
			}
		case !existing[name]:
			t.Errorf("%s, %s: no test %q", r.spec, r.item, name)
		}
	}
}

// sections are what links to the sections of a page name them.
func sections(t *testing.T, file string) (all []string) {
	t.Helper()
	for line := range strings.Lines(page(t, file)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-"))
		}
	}
	return all
}

// built lists the specifications whose scenarios must all have a row. 003 has none: see
// TestSeed003NothingIsMissing.
var built = []string{"000", "001", "004"}

func TestNoScenarioIsMissing(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join(repository, "..", "shared", "seeds", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(seeds) == 0 {
		t.Log("the specifications are not beside this checkout; the rows alone are checked")
		return
	}
	listed := map[string]bool{}
	for _, r := range rows(t) {
		listed[r.spec+" "+r.item] = true
	}
	scenario := regexp.MustCompile(`(?m)^#+ *Scenario: *(.+?) *$`)
	for _, spec := range built {
		for _, path := range seeds {
			if !strings.HasPrefix(filepath.Base(path), spec+"_") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			names := scenario.FindAllStringSubmatch(string(text), -1)
			if len(names) == 0 {
				t.Errorf("%s has no scenario", path)
			}
			for _, name := range names {
				if !listed[spec+" "+name[1]] {
					t.Errorf("%s: the scenario %q has no row", spec, name[1])
				}
			}
		}
	}
}

// Each numbered item of a text beside this checkout needs a row.
func TestNoRulingAndNoHoleIsMissing(t *testing.T) {
	listed := map[string]bool{"hole 21": true} // other clients are not answered
	for _, r := range rows(t) {
		listed[r.spec] = true
	}
	for _, tt := range []struct{ file, after, item, kind string }{
		{"rulings.md", "## The chain", `(?m)^\| ([CT0134]\.\d+) \|`, "ruling"},
		{"reference/agent-gauntlet.md", "### 8.2", `(?m)^(\d+)\. `, "hole"},
	} {
		text, err := os.ReadFile(filepath.Join(repository, "..", "shared", filepath.FromSlash(tt.file)))
		if err != nil {
			t.Logf("%s is not beside this checkout; the rows alone are checked", tt.file)
			continue
		}
		_, section, _ := strings.Cut(string(text), tt.after)
		items := regexp.MustCompile(tt.item).FindAllStringSubmatch(section, -1)
		if len(items) == 0 {
			t.Errorf("%s has no %s", tt.file, tt.kind)
		}
		for _, item := range items {
			if !listed[tt.kind+" "+item[1]] {
				t.Errorf("%s %s has no row", tt.kind, item[1])
			}
		}
	}
}
