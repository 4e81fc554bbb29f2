package change

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/git/gittest"
)

// A repository that ignores the project, as one for the dotfiles in a home does, would never see a change in it: it is as if
// there were none.
func TestE7AProjectThatTheRepositoryAroundIgnores(t *testing.T) {
	const note = "git ignores the whole project, so every file counts as changed"
	for name, rules := range map[string]string{
		"everything": "*\n", "the folder": "/project/\n", "what is in it": "/project/*\n", "all files": "*\n!*/\n!.gitignore\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := gittest.New(t)
			r.Write(".gitignore", rules)
			r.Git("add", "--force", ".gitignore")
			r.Git("commit", "--quiet", "-m", "dotfiles")
			r.Origin()
			r.Write("project/a", "1\n", "project/sub/b", "1\n", "project/"+logDir+"/x.log", "")
			w := openAt(t, r, "project")
			want := Set{All: true, Note: note, Files: []string{"a", "sub/b"}}
			if diff := cmp.Diff(want, changes(t, w, Scope{})); diff != "" {
				t.Error(diff)
			}
			files, err := w.Files(t.Context())
			if check(t, err); !slices.Equal(files, want.Files) {
				t.Errorf("files %q", files)
			}
			if got, _ := diff(t, w, Scope{}, everything, 1<<20); cmp.Diff("", got) == "" {
				t.Error("a review sees nothing")
			}
			before := exact(t, w)
			if r.Write("project/sub/red", ""); exact(t, w) == before {
				t.Error("a new file is not seen")
			}

			r.Git("add", "--force", "project/a")
			if p := position(t, w, Scope{}); !p.Git || p.Prefix != "project/" {
				t.Errorf("a file of it is tracked: %+v", p)
			}
			if files := tree(t, w); !files.Has("a") || files.Has("sub/red") || !files.Has("../.gitignore") {
				t.Error("with a tracked file it is not the repository's tree")
			}
		})
	}
}

// The project loses its own repository, and another one around it ignores it.
func TestE7ARepositoryThatIsGoneBelowAnotherOne(t *testing.T) {
	around := gittest.New(t)
	around.Write(".gitignore", "*\n")
	check(t, os.Mkdir(around.Path("project"), 0o755))
	r := gittest.At(t, around.Path("project"))
	r.Git("init", "--quiet", "--initial-branch=main")
	r.Write("a", "1\n", ".gitignore", logDir+"\n")
	r.Commit("first")
	r.Origin()
	before := exact(t, open(t, r))
	r.Write("red", "")
	check(t, os.RemoveAll(r.Path(".git")))
	w := open(t, r)
	if exact(t, w) == before || !tree(t, w).Has("red") || len(changes(t, w, Scope{}).Files) == 0 {
		t.Error("it is as it was")
	}
}
