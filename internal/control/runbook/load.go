package runbook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Dir is where runbooks are, below a project's .gauntlet.
const Dir = "runbooks"

// maxFiles is more runbooks than a project has.
const maxFiles = 1000

// Set is the runbooks of a project.
type Set struct {
	Runbooks []Runbook // by path
}

// Load reads every *.toml and *.hcl below a runbooks directory: a project's
// .gauntlet/runbooks, or the approved copy of it. One that does not exist holds none. The
// error is Faults, all of them; beside it the set holds the runbooks that are sound.
func Load(dir string) (Set, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, Faults{unreadable(dir, err)}
	}
	defer root.Close()
	files, err := find(root)
	if err != nil {
		return Set{}, Faults{unreadable(dir, err)}
	}
	return load(root, dir, files)
}

// LoadFile reads one runbook of a runbooks directory; name is its path in there.
func LoadFile(dir, name string) (Set, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Set{}, Faults{unreadable(dir, err)}
	}
	defer root.Close()
	return load(root, dir, []string{name})
}

func load(root *os.Root, dir string, files []string) (Set, error) {
	var set Set
	var faults Faults
	for _, name := range files {
		shown := filepath.Join(dir, filepath.FromSlash(name))
		text, err := read(root, name, maxFile)
		if err != nil {
			faults = append(faults, unreadable(shown, err))
			continue
		}
		book, wrong := Parse(shown, text, func(name string) ([]byte, error) { return read(root, name, maxText) })
		book.Name = name
		if faults = append(faults, wrong...); len(wrong) == 0 {
			set.Runbooks = append(set.Runbooks, book)
		}
	}
	if len(faults) > 0 {
		return set, faults
	}
	return set, nil
}

func unreadable(shown string, err error) Fault {
	return document.OfFile(plain.Line(shown), plain.Line(document.WhyUnread(err)), "")
}

// find lists the runbooks, sorted.
func find(root *os.Root) ([]string, error) {
	var files []string
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if ext := path.Ext(name); ext == ".toml" || ext == ".hcl" {
			files = append(files, name)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("cannot be read: more than %d runbooks", maxFiles)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// read returns a file of the directory, and one byte more than it may have where it is too
// large. A root follows no link that leads out of it.
func read(root *os.Root, name string, most int) ([]byte, error) {
	return regular.HeadIn(root, filepath.FromSlash(name), int64(most)+1)
}

// Found is a command and the runbook that it stands in.
type Found struct {
	Command
	Runbook Runbook
}

// Commands are all there are, by name.
func (s Set) Commands() []Found {
	var all []Found
	for _, book := range s.Runbooks {
		for _, c := range book.Commands {
			all = append(all, Found{c, book})
		}
	}
	slices.SortFunc(all, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Runbook.Path, b.Runbook.Path))
	})
	return all
}

// Command finds a command by its name. Where several runbooks have it, runbook tells which
// is meant: its path, the end of that, or its name without .toml or .hcl.
func (s Set) Command(name, runbook string) (Command, Runbook, error) {
	var found []Found
	var known, paths []string
	for _, c := range s.Commands() {
		if runbook != "" && !c.Runbook.called(runbook) {
			continue
		}
		known = append(known, c.Command.Name)
		if c.Command.Name == name {
			found, paths = append(found, c), append(paths, plain.Line(c.Runbook.Path))
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Command, found[0].Runbook, nil
	case len(found) > 1:
		return Command{}, Runbook{}, fmt.Errorf("command %q is in several runbooks, %s: say which with --runbook FILE", name, strings.Join(paths, " and "))
	}
	return Command{}, Runbook{}, s.noCommand(name, runbook, known)
}

func (s Set) noCommand(name, runbook string, known []string) error {
	where := ""
	if runbook != "" {
		if !slices.ContainsFunc(s.Runbooks, func(r Runbook) bool { return r.called(runbook) }) {
			return fmt.Errorf("there is no runbook %q", runbook)
		}
		where = " in " + runbook
	}
	if hint := document.OrValid("command", name, slices.Compact(known)); hint != "" {
		return fmt.Errorf("there is no command %q%s; %s", name, where, hint)
	}
	return fmt.Errorf("there is no command %q: this project has no runbook with commands", name)
}

// called reports whether that is what a person calls the runbook.
func (r Runbook) called(name string) bool {
	full, name := filepath.ToSlash(r.Path), filepath.ToSlash(name)
	bare := strings.TrimSuffix(full, path.Ext(full))
	ends := func(text string) bool { return text == name || strings.HasSuffix(text, "/"+name) }
	return ends(full) || ends(bare)
}
