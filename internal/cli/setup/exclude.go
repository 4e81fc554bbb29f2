package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// exclusion is a line by which a repository ignores a file that is a person's own. It is in the
// repository's info/exclude, which is not committed and holds in all worktrees.
type exclusion struct {
	file string
	list string
	line string
}

// excludeMark is before each line that we add: what has none is a person's.
const excludeMark = "# stopgate takes the next line out when its hooks are uninstalled"

// exclusions are for the files that installing hooks in a scope makes and that nobody should commit.
func exclusions(scope settings.Scope, path string) (all []exclusion) {
	var files []string
	switch scope {
	case settings.Local:
		files = []string{path, jsonfile.BackupPath(path)}
	case settings.Project:
		files = []string{jsonfile.BackupPath(path)}
	}
	common, within, found := paths.Repository(filepath.Dir(path))
	if !found || strings.Contains(within, "\n") { // which no line can hold
		return nil
	}
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, file := range files {
		name := filepath.ToSlash(filepath.Join(string(filepath.Separator), filepath.FromSlash(within), filepath.Base(file)))
		all = append(all, exclusion{file, filepath.Join(common, "info", "exclude"), escape.Replace(name)})
	}
	return all
}

// excludeHooks has git ignore what installing hooks made, where git would show it as new.
func excludeHooks(out io.Writer, to target) {
	for _, e := range exclusions(to.scope, to.path) {
		if !e.needed() {
			continue
		}
		if err := e.add(); err != nil {
			fmt.Fprintf(out, "note: git shows %s as a new file; do not commit it (%v)\n", e.file, err)
			continue
		}
		fmt.Fprintf(out, "git ignores %s from now on (added to %s)\n", e.file, e.list)
	}
}

func (e exclusion) needed() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	shown, err := git.At(filepath.Dir(e.file), os.Environ()).Untracked(ctx, filepath.Base(e.file))
	return err == nil && shown
}

func (e exclusion) add() error {
	return jsonfile.WithLock(e.list, func(f *jsonfile.File) error {
		text := string(f.Text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += excludeMark + "\n" + e.line + "\n"
		if f.Exists {
			return f.Write([]byte(text))
		}
		f.Mode = 0o644
		return f.Make([]byte(text))
	})
}

// there reports whether we have added the line.
func (e exclusion) there() bool {
	text, err := jsonfile.ReadText(e.list)
	if err != nil {
		return false
	}
	_, found := e.without(string(text))
	return found
}

func (e exclusion) remove() error {
	return jsonfile.WithLock(e.list, func(f *jsonfile.File) error {
		text, found := e.without(string(f.Text))
		switch {
		case !found:
			return nil
		case text == "" && f.Made():
			return errors.Join(f.Remove(), f.Forget())
		}
		return f.Write([]byte(text))
	})
}

// without is the list less the line that we added, and its mark.
func (e exclusion) without(text string) (rest string, found bool) {
	lines := strings.SplitAfter(text, "\n")
	for i := range len(lines) - 1 {
		if strings.TrimRight(lines[i], "\r\n") == excludeMark && strings.TrimRight(lines[i+1], "\r\n") == e.line {
			return strings.Join(append(lines[:i:i], lines[i+2:]...), ""), true
		}
	}
	return text, false
}
