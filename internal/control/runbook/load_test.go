package runbook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree writes files to a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

const lint = "[command.lint]\nrun = \"make lint\"\n"

func TestLoad(t *testing.T) {
	dir := tree(t, map[string]string{
		"z.toml": lint, "a.hcl": "command \"build\" {\n run = \"make\"\n}\n", "deep/er/b.toml": lint,
		"notes.md": "no runbook", "toml": "none either", "a.toml.bak": "[",
	})
	set, err := Load(dir)
	check(t, err)
	var got []string
	for _, book := range set.Runbooks {
		got = append(got, book.Path)
	}
	want := []string{filepath.Join(dir, "a.hcl"), filepath.Join(dir, "deep", "er", "b.toml"), filepath.Join(dir, "z.toml")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	got = nil
	for _, c := range set.Commands() {
		got = append(got, c.Name+" "+filepath.Base(c.Runbook.Path))
	}
	if diff := cmp.Diff([]string{"build a.hcl", "lint b.toml", "lint z.toml"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestLoadWithoutADirectory(t *testing.T) {
	set, err := Load(filepath.Join(t.TempDir(), "none"))
	if err != nil || len(set.Runbooks) != 0 {
		t.Errorf("%v, %v", set, err)
	}
	file := filepath.Join(tree(t, map[string]string{"x": ""}), "x")
	if _, err := Load(file); err == nil {
		t.Error("a file is a directory")
	}
}

// One bad runbook does not take the others away, and all faults are told.
func TestLoadKeepsWhatIsSound(t *testing.T) {
	dir := tree(t, map[string]string{"a.toml": "x = 1\n", "b.toml": lint, "c.hcl": "y = 1\nz = 2\n"})
	set, err := Load(dir)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 3 || len(set.Runbooks) != 1 {
		t.Fatalf("%v, %v", set, err)
	}
	if !strings.HasPrefix(faults[2].String(), filepath.Join(dir, "c.hcl")+":2:1: unknown field \"z\"") {
		t.Errorf("%v", faults[2])
	}
}

func TestFindCommand(t *testing.T) {
	dir := tree(t, map[string]string{"a.toml": lint, "b/a.toml": lint, "c.toml": "[command.build]\nrun = \"make\"\n"})
	set, err := Load(dir)
	check(t, err)
	a, deep := filepath.Join(dir, "a.toml"), filepath.Join(dir, "b", "a.toml")
	for _, test := range []struct{ name, runbook, want string }{
		{"build", "", filepath.Join(dir, "c.toml")},
		{"lint", a, a},
		{"lint", "b/a", deep},
		{"lint", "b/a.toml", deep},
		{"lint", "", "error: command \"lint\" is in several runbooks, " + a + " and " + deep + ": choose one with --runbook FILE"},
		{"lint", "a", "error: command \"lint\" is in several runbooks"},
		{"lint", "c.toml", "error: there is no command \"lint\" in c.toml; valid commands: build"},
		{"lint", "d.toml", "error: there is no runbook \"d.toml\""},
		{"lnit", "", "error: there is no command \"lnit\"; did you mean \"lint\"?"},
		{"xyzzy", "", "error: there is no command \"xyzzy\"; valid commands: build, lint"},
	} {
		c, book, err := set.Command(test.name, test.runbook)
		got := book.Path
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, test.want) || err == nil && c.Name != test.name {
			t.Errorf("%s, %q: got %s, want %s", test.name, test.runbook, got, test.want)
		}
	}
	if _, _, err := (Set{}).Command("x", ""); err == nil || !strings.Contains(err.Error(), "no runbook with commands") {
		t.Errorf("%v", err)
	}
}
