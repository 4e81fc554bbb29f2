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

// row is a line of docs/dev/conformance.md.
type row struct{ spec, item, test string }

func rows(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", "dev", "conformance.md"))
	check(t, err)
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
	check(t, err)
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
	listed := map[string]bool{}
	for _, r := range rows(t) {
		listed[r.spec+" "+r.item] = true
	}
	scenario := regexp.MustCompile(`(?m)^#+ *Scenario: *(.+?) *$`)
	for _, name := range built {
		scenarios := scenario.FindAllStringSubmatch(spec(t, name+".txt"), -1)
		if len(scenarios) == 0 {
			t.Errorf("%s has no scenario", name)
		}
		for _, s := range scenarios {
			if !listed[name+" "+s[1]] {
				t.Errorf("%s: the scenario %q has no row", name, s[1])
			}
		}
	}
}

// pending are the rulings that no code follows yet, each with the issue that brings it.
var pending = map[string]string{}

// Each numbered item of these texts needs a row.
func TestNoRulingHoleOrDefectIsMissing(t *testing.T) {
	listed := map[string]bool{"hole 21": true} // other clients are not answered
	for _, r := range rows(t) {
		listed[r.spec] = true
	}
	for _, tt := range []struct {
		file, after, before, item, kind string
		least                           int
	}{
		{"rulings.md", "# Rulings", "## Second edition", `(?m)^\| ([CT01234]\.\d+) \|`, "ruling", 80},
		{"rulings.md", "## Second edition", "\x00", `(?m)^\| ([EP]\.\d+) \|`, "ruling", 30},
		{"older-tools.md", "## Holes", "## Defects", `(?m)^(\d+)\. `, "hole", 22},
		{"older-tools.md", "## Defects", "\x00", `(?m)^(\d+)\. `, "defect", 10},
	} {
		_, section, _ := strings.Cut(spec(t, tt.file), tt.after)
		section, _, _ = strings.Cut(section, tt.before)
		items := regexp.MustCompile(tt.item).FindAllStringSubmatch(section, -1)
		if len(items) < tt.least {
			t.Errorf("%s has only %d of %s", tt.file, len(items), tt.kind)
		}
		for _, item := range items {
			name := tt.kind + " " + item[1]
			switch _, waits := pending[item[1]]; {
			case waits && listed[name]:
				t.Errorf("%s has a row, and is listed as pending", name)
			case !waits && !listed[name]:
				t.Errorf("%s has no row", name)
			}
		}
	}
}

// spec is a text that the project conforms to.
func spec(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("spec", name))
	check(t, err)
	return string(text)
}
