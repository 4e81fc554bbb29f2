package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page's table of packages has each package that runs, and no other.
func TestDesignPageNamesEveryPackage(t *testing.T) {
	_, table, found := strings.Cut(page(t, "docs/design.md"), "\n## Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("there is no section on packages")
	}
	named := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		first := ""
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			name := match[1]
			switch {
			case strings.HasPrefix(name, "internal/"), strings.HasPrefix(name, "cmd/"), strings.HasPrefix(name, "packaging/"), strings.HasPrefix(name, "test/"):
			case exists(filepath.Join(repository, "internal", name)):
				name = "internal/" + name
			default: // beside the one before it
				name = filepath.ToSlash(filepath.Join(filepath.Dir(first), name))
			}
			first = name
			named[name] = true
			if !exists(filepath.Join(repository, filepath.FromSlash(name))) {
				t.Errorf("%s is on the page and not in the repository", name)
			}
		}
	}
	for _, root := range []string{"cmd", "internal", "packaging"} {
		err := filepath.WalkDir(filepath.Join(repository, root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			// What only tests, generators and one other package import is not a part of the design.
			if base := entry.Name(); base == "testdata" || base == "internal" && name != "internal" || strings.HasSuffix(base, "test") || base == "schema" || strings.HasSuffix(base, "gen") {
				return fs.SkipDir
			}
			sources, err := filepath.Glob(filepath.Join(path, "*.go"))
			if len(sources) > 0 && !named[name] {
				t.Errorf("%s is not on the page", name)
			}
			return err
		})
		check(t, err)
	}
}

// The page's table of files names files that are there.
func TestDesignPageLeadsToFiles(t *testing.T) {
	_, table, _ := strings.Cut(page(t, "docs/design.md"), "\n## Where to look\n")
	table, _, _ = strings.Cut(table, "\n## ")
	names := regexp.MustCompile("`([^` ]+\\.go)`").FindAllStringSubmatch(table, -1)
	if len(names) < 40 {
		t.Fatalf("only %d files found", len(names))
	}
	for _, name := range names {
		from := "internal"
		if strings.HasPrefix(name[1], "packaging/") {
			from = ""
		}
		if !exists(filepath.Join(repository, from, filepath.FromSlash(name[1]))) {
			t.Errorf("%s is on the page and not in the repository", name[1])
		}
	}
}

// The contributor's page leads to files and packages that are there.
func TestContributingPageNamesWhatIsThere(t *testing.T) {
	names := regexp.MustCompile("`((?:cmd|docs|internal|test)/[^` ]+)`").FindAllStringSubmatch(page(t, "CONTRIBUTING.md"), -1)
	if len(names) < 30 {
		t.Fatalf("only %d names found", len(names))
	}
	for _, name := range names {
		if !exists(filepath.Join(repository, filepath.FromSlash(name[1]))) {
			t.Errorf("%s is on the page and not in the repository", name[1])
		}
	}
}

// What the client calls does nothing but call the package that has the commands.
func TestSeed003TheEntryPointIsThin(t *testing.T) {
	path := filepath.Join(repository, "cmd", "stopgate", "main.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	check(t, err)
	var statements, functions int
	for _, declared := range file.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok {
			functions++
			statements += len(f.Body.List)
		}
	}
	if functions != 1 || statements != 1 {
		t.Errorf("%d functions with %d statements", functions, statements)
	}
}
