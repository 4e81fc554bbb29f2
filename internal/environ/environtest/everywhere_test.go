package environtest

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The tests of a package that use the system begin with a clean environment, or they depend on
// whoever runs them.
func TestEveryPackageBeginsClean(t *testing.T) {
	system := regexp.MustCompile(`(?m)^(import )?\s*"os(/exec)?"$`)
	begin := regexp.MustCompile(`\bClean\(\)|\bprocesstest\.Main\(`)
	for dir, text := range testFiles(t, os.DirFS("../../.."), "cmd", "internal", "test") {
		if system.MatchString(text) && !begin.MatchString(text) {
			t.Errorf("%s: TestMain does not call environtest.Clean", dir)
		}
	}
}

// testFiles are the texts of all test files, by their directory.
func testFiles(t *testing.T, root fs.FS, dirs ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	collect := func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		texts[path.Dir(name)] += string(text)
		return err
	}
	for _, dir := range dirs {
		if err := fs.WalkDir(root, dir, collect); err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
