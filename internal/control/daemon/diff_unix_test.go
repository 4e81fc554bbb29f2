//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/git"
)

// A diff has what was changed, committed or not, and new files; no links, no binary files, and of a huge
// change the beginning.
func TestIssue18ADiffHasWhatWasChanged(t *testing.T) {
	root, run := repository(t)
	write := func(name, text string) { check(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644)) }
	write("main.go", "package main\n")
	run("add", ".")
	run("commit", "-qm", "x")
	repo := git.At(root, os.Environ())
	from, _, err := repo.Commit(t.Context(), "HEAD")
	check(t, err)
	if text := diffIn(t.Context(), repo, root, from); text.String() != "" || text.full {
		t.Errorf("unchanged: %q", text.String())
	}
	write("main.go", "package main\n\nfunc main() {}\n")
	write("notes.txt", "one\ntwo\n")
	write("picture", "\x00\x01")
	secret := filepath.Join(t.TempDir(), "secret")
	check(t, os.WriteFile(secret, []byte("secret"), 0o600))
	check(t, os.Symlink(secret, filepath.Join(root, "link")))
	text := diffIn(t.Context(), repo, root, from).String()
	for _, want := range []string{"diff --git a/main.go b/main.go\n", "\n+func main() {}\n", "diff --git a/notes.txt b/notes.txt\nnew file\n@@ -0,0 +1 @@\n+one\n+two\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "picture") {
		t.Errorf("%s", text)
	}
	run("commit", "-qam", "y")
	if again := diffIn(t.Context(), repo, root, from).String(); again != text {
		t.Errorf("committed:\n%s", again)
	}
	write("main.go", strings.Repeat("// a long line of a long file\n", 20_000))
	if text := diffIn(t.Context(), repo, root, from); !text.full || text.Len() > maxDiff {
		t.Errorf("%d bytes, %t", text.Len(), text.full)
	}
}
