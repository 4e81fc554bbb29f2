package environtest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// The tests of a package that use the system begin with a clean environment, or they depend on
// the machine.
func TestEveryPackageBeginsClean(t *testing.T) {
	for dir, text := range testFiles(t, os.DirFS("../../../.."), "cmd", "internal", "test") {
		system := hasAny(text, "\t\"os\"\n", "\t\"os/exec\"\n", "import \"os\"\n")
		if system && !hasAny(text, "\tenvirontest.Clean()\n", "\tClean()\n", " processtest.Main(", "\tprocesstest.Main(") {
			t.Errorf("%s: TestMain does not call environtest.Clean", dir)
		}
	}
}

func hasAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
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
