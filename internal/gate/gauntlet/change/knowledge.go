package change

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Everything stands for all files, where it is not known which of them a session has altered.
const Everything = "."

// knowledge is what a session knows of a tree besides its files: how git wrote files there and in the repositories within
// it when the session first saw them, which files the session has altered since it began, and the commits that HEAD was
// when it last found or left the tree so: a commit need not change a file. Two sessions may know different things of one tree. A
// session that is older than the program knows nothing.
type knowledge struct {
	Settings map[string]settings `json:"settings,omitempty"` // by repository; the tree's own has no name
	Own      map[string]bool     `json:"own,omitempty"`
	Heads    map[string]string   `json:"heads,omitempty"` // by repository, too
}

// settings say how git writes files into a repository's work tree.
type settings struct {
	User git.Settings `json:"user,omitempty"`
	Own  git.Settings `json:"own,omitempty"`
}

// maxKnowledge is far more than the names of all files of a tree.
const maxKnowledge = 64 << 20

// learn keeps what a session knows of a tree to which it has come from another one, if any, having altered some files.
func (w *Worktree) learn(ctx context.Context, t Tree, before Baseline, altered []string) error {
	now := Baseline{before.Session, t.Mark()}
	heads, there := w.heads(ctx, t.repositories), w.knows(now)
	if before == now && maps.Equal(there.Heads, heads) {
		return nil
	}
	var was knowledge
	own := map[string]bool{}
	if before.Tree != "" {
		if kept, err := w.kept(before); err != nil {
			own[Everything] = true
		} else {
			was = kept.knowledge
		}
	}
	maps.Copy(own, was.Own)
	for _, name := range altered {
		own[name] = true
	}
	if before.Tree == "" && own[Everything] && there.Own[Everything] {
		return nil // the session is not known, and every stop comes here
	}

	settings := w.settings(ctx, t, was.Settings)
	if maps.Equal(there.Settings, settings) && maps.Equal(there.Own, own) && maps.Equal(there.Heads, heads) {
		return nil
	}
	text, err := json.Marshal(knowledge{settings, own, heads})
	if err != nil {
		return err
	}
	file := w.knowledgeFile(now)
	if err := atomicfile.Replace(file, text, 0o600); err != nil {
		return err
	}
	forget(filepath.Dir(file))
	return nil
}

// knows is what a session knows of a tree.
func (w *Worktree) knows(b Baseline) (known knowledge) {
	if !w.isKnown(b) {
		return knowledge{}
	}
	known, _ = statefile.Read[knowledge](w.knowledgeFile(b), maxKnowledge)
	return known
}

// isKnown reports whether a session knows anything of a tree. What it knows is in use then.
func (w *Worktree) isKnown(b Baseline) bool {
	now := time.Now()
	return os.Chtimes(w.knowledgeFile(b), now, now) == nil
}

func (w *Worktree) knowledgeFile(b Baseline) string {
	return filepath.Join(filepath.Dir(w.indexFile), "known", digest.Hex([]byte(b.Session + "\n" + b.Tree))[:32])
}

// settings are those of a tree and the repositories within it, as far as git says them: those that are known, and the
// others as they are.
func (w *Worktree) settings(ctx context.Context, t Tree, known map[string]settings) map[string]settings {
	all := map[string]settings{}
	var unknown []string
	for _, name := range append([]string{""}, t.repositories...) {
		if s, is := known[name]; is {
			all[name] = s
		} else {
			unknown = append(unknown, name)
		}
	}

	found := make([]git.ConversionMark, len(unknown))
	errs := make([]error, len(unknown))
	spread(runtime.GOMAXPROCS(0), atOnce, len(unknown), 1, func(i int) { found[i], errs[i] = w.in(unknown[i]).ConversionMark(ctx) })
	for i, name := range unknown {
		if errs[i] == nil {
			all[name] = settings{found[i].User, found[i].Own}
		}
	}
	return all
}
