package runbook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
func Load(dir string) (Set, error) { return loadAll(origin{dir: dir}) }

// LoadOddjobs is Load for the runbooks of oddjobs: a project's .oj/runbooks, or the approved
// copy of it.
func LoadOddjobs(dir string) (Set, error) { return loadAll(origin{dir: dir, oddjobs: true}) }

// LoadFile reads one runbook of a runbooks directory; name is its path in there.
func LoadFile(dir, name string) (Set, error) { return loadFile(origin{dir: dir}, name) }

// LoadOddjobsFile is LoadFile for a runbook of oddjobs.
func LoadOddjobsFile(dir, name string) (Set, error) {
	return loadFile(origin{dir: dir, oddjobs: true}, name)
}

func loadFile(from origin, name string) (Set, error) {
	root, err := os.OpenRoot(from.dir)
	if err != nil {
		return Set{}, Faults{unreadable(from.dir, err)}
	}
	defer root.Close()
	return load(root, from, []string{name})
}

func loadAll(from origin) (Set, error) {
	root, err := os.OpenRoot(from.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, Faults{unreadable(from.dir, err)}
	}
	defer root.Close()
	files, err := find(root, from.oddjobs)
	if err != nil {
		return Set{}, Faults{unreadable(from.dir, err)}
	}
	return load(root, from, files)
}

// load reads files. One that another imports is a part of that, and no runbook of its own.
func load(root *os.Root, from origin, files []string) (Set, error) {
	from.read = func(name string) ([]byte, error) { return read(root, name, maxFile) }
	var set Set
	var faults Faults
	imported := map[string]bool{}

	for _, name := range files {
		shown := filepath.Join(from.dir, filepath.FromSlash(name))
		text, err := from.read(name)
		if err != nil {
			faults = append(faults, unreadable(shown, err))
			continue
		}

		d := newDecoder(from, name, shown, text)
		d.read()
		for _, other := range d.sources() {
			imported[other] = true
		}
		wrong := d.allFaults()
		if faults = append(faults, wrong...); len(wrong) == 0 {
			set.Runbooks = append(set.Runbooks, d.book())
		}
	}

	set.Runbooks = slices.DeleteFunc(set.Runbooks, func(r Runbook) bool { return imported[r.Name] })
	if len(faults) > 0 {
		return set, document.InOrder(faults)
	}
	return set, nil
}

// Beside are a project's own runbooks with those of oddjobs. Of two commands of the same name
// the project's own is meant.
func (s Set) Beside(oddjobs Set) Set {
	own := s.Commands()
	for _, book := range oddjobs.Runbooks {
		for _, name := range slices.Sorted(maps.Keys(book.Commands)) {
			i := slices.IndexFunc(own, func(f Found) bool { return f.Command.Name == name })
			if i < 0 {
				continue
			}
			book.Warnings = append(book.Warnings, document.OfFile(plain.Line(book.Path),
				"command "+quote(name)+" is hidden by "+plain.Line(own[i].Runbook.Path), "to start it: stopgate start --runbook "+plain.Line(book.Path)+" "+name))
		}
		s.Runbooks = append(s.Runbooks, book)
	}
	return s
}

// Startable are the commands that start without saying in which runbook they are: all but
// those of oddjobs that the project's own hide.
func (s Set) Startable() []Found {
	all := s.Commands()
	return slices.DeleteFunc(slices.Clone(all), func(f Found) bool { return f.Runbook.Oddjobs && hidden(f, all) })
}

func hidden(f Found, all []Found) bool {
	return slices.ContainsFunc(all, func(other Found) bool { return other.Command.Name == f.Command.Name && !other.Runbook.Oddjobs })
}

func unreadable(shown string, err error) Fault {
	return document.OfFile(plain.Line(shown), plain.Line(document.WhyUnread(err)), "")
}

// find lists the runbooks, sorted.
func find(root *os.Root, oddjobs bool) ([]string, error) {
	var files []string
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if isRunbook(name) || oddjobs && path.Ext(name) == ".json" {
			files = append(files, name)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("more than %d runbooks", maxFiles)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// isRunbook reports whether a file is one, by its name.
func isRunbook(name string) bool { return path.Ext(name) == ".toml" || path.Ext(name) == ".hcl" }

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
	all := slices.DeleteFunc(s.Commands(), func(c Found) bool { return runbook != "" && !c.Runbook.called(runbook) })
	var found []Found
	var known, paths []string
	for _, c := range all {
		known = append(known, c.Command.Name)
		if c.Command.Name == name && !(c.Runbook.Oddjobs && hidden(c, all)) {
			found, paths = append(found, c), append(paths, plain.Line(c.Runbook.Path))
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Command, found[0].Runbook, nil
	case len(found) > 1:
		return Command{}, Runbook{}, fmt.Errorf("command %q is in several runbooks, %s: choose one with --runbook FILE", name, strings.Join(paths, " and "))
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
	if i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, nameSeparator+name) }); i >= 0 {
		return fmt.Errorf("there is no command %q%s; did you mean %q?", name, where, known[i])
	}
	if hint := document.OrValid("command", name, slices.Compact(known)); hint != "" {
		return fmt.Errorf("there is no command %q%s; %s", name, where, hint)
	}
	return fmt.Errorf("there is no command %q: this project has no runbook with commands", name)
}

// Meant guesses the command, pipeline or agent that was meant by a name, or says something else.
func (s Set) Meant(name, otherwise string) string {
	var names []string
	for _, book := range s.Runbooks {
		names = slices.AppendSeq(names, maps.Keys(book.Commands))
		names = slices.AppendSeq(names, maps.Keys(book.Pipelines))
		names = slices.AppendSeq(names, maps.Keys(book.Agents))
	}
	slices.Sort(names)
	return document.Hint(name, slices.Compact(names), otherwise)
}

// called reports whether that is what a person calls the runbook.
func (r Runbook) called(name string) bool {
	full, name := filepath.ToSlash(r.Path), filepath.ToSlash(name)
	bare := strings.TrimSuffix(full, path.Ext(full))
	ends := func(text string) bool { return text == name || strings.HasSuffix(text, "/"+name) }
	return ends(full) || ends(bare)
}
