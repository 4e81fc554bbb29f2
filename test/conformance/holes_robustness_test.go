package conformance

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A hook reads on after the first newline: pretty-printed JSON comes in chunks.
// The blanks are more than a pipe holds, so the first chunk was read before the
// second is written.
func TestHole11PrettyPrintedChunkedStdin(t *testing.T) {
	g := newGated(t, theCheck)
	r, w, err := os.Pipe()
	check(t, err)
	written := make(chan error, 1)
	go func() {
		_, err := w.WriteString("{\n" + strings.Repeat(" \n", 200<<10))
		if err == nil {
			_, err = w.WriteString("  \"cwd\": \"" + g.root + "\"\n}\n")
		}
		w.Close()
		written <- err
	}()
	a := understand(t, await(t, g.command("stop-hook"), r))
	check(t, <-written)
	a.is(t, "passed")
}

func TestHole12AllPathsComeFromTheProjectsRoot(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	g.write("sub/file", "")
	elsewhere := t.TempDir()
	a := g.stopFrom(elsewhere, map[string]any{"cwd": g.path("sub")})
	a.is(t, "failed")
	contains(t, a.Reason, g.log("console.1.log"), g.log("check_._tests.1.log"))
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("%v was left where the process ran: %v", entries, err)
	}
	if exists(g.path("sub/gauntlet_logs")) {
		t.Error("logs lie in the sub-directory")
	}
}

func TestHole13ForeignFilesInTheLogDirectoryStay(t *testing.T) {
	g := newGated(t, theCheck)
	foreign := []string{"notes.txt", "data.json", "app.log", ".hidden", "previous/mine.txt"}
	for _, name := range foreign {
		g.write("gauntlet_logs/"+name, "mine")
	}
	for i := range 5 {
		g.write("work.txt", strings.Repeat("x", i))
		g.stop().is(t, "passed")
	}
	g.clean()
	for _, name := range foreign {
		if slurp(t, g.log(name)) != "mine" {
			t.Errorf("%s is gone: %q", name, g.logs())
		}
	}
}

func TestHole13TheArchiveKeepsGenerations(t *testing.T) {
	g := newGated(t, theCheck)
	for i := range 5 {
		g.write("work.txt", strings.Repeat("x", i))
		g.stop().is(t, "passed")
	}
	for _, generation := range []string{"previous", "previous/2", "previous/3"} {
		if !exists(g.log(generation + "/console.1.log")) {
			t.Errorf("no %s", generation)
		}
	}
	if exists(g.log("previous/4")) {
		t.Error("generations pile up")
	}
}

// A snapshot of the working tree leaves the repository as it was: no stash, no
// index, no ref, no object.
func TestHole14TheSnapshotTouchesNothing(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("staged.txt", "staged")
	g.git("add", "staged.txt")
	g.write("staged.txt", "and changed")
	before := contents(t, g.path(".git"))
	g.stop().is(t, "passed")
	if diff := cmp.Diff(before, contents(t, g.path(".git"))); diff != "" {
		t.Error(diff)
	}
}

// contents are the files below a folder.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	files := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path] = sha256.Sum256([]byte(slurp(t, path)))
		return nil
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	return files
}

// Untracked files are part of a snapshot: one that did not change is not new to
// the next run.
func TestHole14UntrackedFilesAreInTheSnapshot(t *testing.T) {
	g := newGated(t, theCheck)
	g.stop().is(t, "passed")
	g.stop().is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}

// strangeNames are names that git quotes, or that break lines.
var strangeNames = []string{"with space", "ümläut", "new\nline", `quo"te`, "-dash", "tab\there", "'single'", "star*", "back\\slash", "\xff\xfe"}

func TestHole15NamesWithSpacesUTF8AndNewlines(t *testing.T) {
	t.Parallel()
	for _, name := range strangeNames {
		t.Run("", func(t *testing.T) {
			g := newGated(t, strings.Replace(theCheck, "path: .", "path: pkg/*", 1))
			g.remove("work.txt")
			g.write("pkg/"+name+"/file "+name, "")
			g.write("pkg/"+name+"/bad", "")
			a := g.stop()
			a.is(t, "failed") // the check runs in the folder and finds bad there
			g.remove("pkg/" + name + "/bad")
			g.stop().is(t, "passed")
			if g.runs() != 2 {
				t.Errorf("%d runs", g.runs())
			}
		})
	}
}

func TestHole15DeletedAndRenamedFilesCount(t *testing.T) {
	g := newGated(t, strings.Replace(theCheck, "path: .", "path: src", 1))
	g.write("src/old name", strings.Repeat("content\n", 50))
	g.commit("base")
	g.git("branch", "-f", "main", "HEAD")
	g.git("mv", "src/old name", "moved away")
	g.stop().is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}

func TestHole16ABaseBranchIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"main; touch pwned", "$(touch pwned)", "--output=pwned", "-h", "main\ntouch pwned"} {
		t.Run(base, func(t *testing.T) {
			g := newGated(t, strings.Replace(theCheck, "base_branch: main\n", "", 1))
			g.env = append(g.env, "CI=true", "GITHUB_BASE_REF="+base)
			g.commit("work")
			a := g.stop()
			if exists(g.path("pwned")) {
				t.Errorf("it was executed: %s", a.stdout)
			}
			a.is(t, "passed") // counted from the commit before
		})
	}
}

// What a reviewer is told contains source. It lies in no file and in no argument.
func TestHole17ThePromptGoesThroughAPipe(t *testing.T) {
	g := newGated(t, reviewed)
	g.write("work.txt", "a secret of the source\n")
	g.reviewer("claude", reviewPasses)
	script := filepath.Join(g.beside("bin"), "claude")
	spill(t, script, slurp(t, script)+"ls -A \"$TMPDIR\" > '"+g.beside("tmp.list")+"'; printf '%s\\n' \"$@\" > '"+g.beside("args")+"'\n")
	g.stop().is(t, "passed")
	contains(t, slurp(t, g.beside("claude.prompt")), "a secret of the source")
	if list := slurp(t, g.beside("tmp.list")); list != "" {
		t.Errorf("temporary files: %q", list)
	}
	if strings.Contains(slurp(t, g.beside("args")), "secret") {
		t.Error("every user of the machine can read the prompt")
	}
	for _, name := range g.logs() {
		if info, err := os.Stat(g.log(name)); err == nil && info.Mode().IsRegular() && strings.HasSuffix(name, ".log") && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", name, info.Mode())
		}
	}
}
