package settings

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Change is what a launch does to a settings file, all in one write.
type Change struct {
	Supervisor *Entry          // our Stop entry, with a shell's command line; nil: none is added
	Remove     bool            // with Supervisor nil: take our supervisor entry out; else it stays as it is
	Living     bool            // with Remove: only an entry that resolves to this very binary
	Own        string          // the path that we were called by: an entry that calls it is ours, whatever its name
	Was        []Put           // what earlier launches put there: taken out again where it is still as we put it
	Merge      json.RawMessage // an object of settings, merged under the person's own values; may be nil
}

// Apply changes the settings file at path and says what it put there beside the
// supervisor's entry. Every byte that is not ours stays, and so does what is
// right already: where nothing is to be changed, nothing is written. When nobody
// else touched the file and the last of ours goes, the file becomes what it was
// before us, to the byte; one that we made is removed.
//
// A file that Claude Code would not take, or that has no one place for the entry,
// is refused with its position and not touched.
func Apply(path string, c Change) (put []Put, changed bool, err error) {
	if c.stands(path) {
		return nil, false, nil
	}

	err = jsonfile.WithLock(path, func(f *jsonfile.File) error {
		before, err := f.Backup()
		if err != nil {
			return err
		}
		a, err := newApplication(f.Path, f.Text, before, c)
		if err != nil {
			return err
		}
		text, err := a.run()
		if err != nil {
			return err
		}

		put = a.put
		switch {
		case text == nil && !f.Exists:
		case text == nil:
			changed, err = restore(f, nil)
		default:
			changed, err = replace(f, text, a.original())
		}
		if err != nil || a.left() {
			return err
		}
		return f.Forget()
	})
	if err != nil {
		return nil, false, err
	}
	return put, changed, nil
}

// stands reports whether the entry is there already and all that is asked for: most
// launches of a person who has a supervisor are so. A file is replaced as a whole,
// so that it can be looked at without its lock.
func (c Change) stands(path string) bool {
	if c.Supervisor == nil || len(c.Was) > 0 || len(c.Merge) > 0 {
		return false
	}
	text, err := jsonfile.ReadText(path)
	if err != nil {
		return false
	}
	d, err := parse(path, text)
	if err != nil || d.editable() != nil || len(d.faults(User)) > 0 {
		return false
	}
	want := *c.Supervisor
	want.Event = hook.Stop
	program, _ := want.call()
	there := d.find(func(e Entry) bool { return e.Event == hook.Stop && e.CallsSupervisor(c.Own, program) })
	return len(there) == 1 && there[0].entry.equal(wanted([]Entry{want}, hook.Stop)[0])
}

// application is a Change at work on a file.
type application struct {
	*edit
	Change
	own    []string // paths of programs that are ours
	layout jsonfile.Layout
	want   []Put // what Merge wants to be there
	put    []Put // what of it is there because of us
}

func newApplication(name string, text, before []byte, c Change) (*application, error) {
	e, err := newEdit(name, text, before)
	if err != nil {
		return nil, err
	}
	a := &application{edit: e, Change: c, layout: e.Layout()}
	if c.Own != "" {
		a.own = append(a.own, c.Own)
	}
	if c.Supervisor != nil {
		program, _ := c.Supervisor.call()
		a.own = append(a.own, program)
	}
	a.Was = parts(c.Was)
	a.want, err = a.wishes()
	return a, err
}

// run gives the new text; nil when there is to be no file. The order keeps ours, the
// launch's and the person's hooks apart.
func (a *application) run() ([]byte, error) {
	if a.Supervisor == nil && a.Remove {
		a.removeSupervisor()
	}
	a.takeOut()
	a.merge()
	if a.Supervisor != nil {
		if err := a.installSupervisor(); err != nil {
			return nil, err
		}
	}
	a.tidy(func(path ...string) bool { return at(a.put, path) })
	text := a.result()
	if a.Supervisor == nil && len(a.put) == 0 {
		return text, nil
	}
	return text, inForceAfter(a.name, a.text, text)
}

func (a *application) removeSupervisor() {
	for _, p := range a.find(a.supervisor) {
		p.remove()
	}
	a.tidy(func(path ...string) bool { return at(a.Was, path) && at(a.want, path) })
}

func (a *application) installSupervisor() error {
	e := *a.Supervisor
	e.Event = hook.Stop
	switch {
	case !a.supervisor(e):
		return fmt.Errorf("not a supervisor's command: %q %q", e.Command, e.Args)
	case !utf8.ValidString(e.Command):
		return fmt.Errorf("a settings file cannot contain the path in %q: it is not UTF-8", e.Command)
	case e.Timeout < 0:
		return fmt.Errorf("timeout %v of the supervisor is negative", e.Timeout)
	}
	a.installEvent(a.layout, hook.Stop, wanted([]Entry{e}, hook.Stop), a.supervisor)
	return nil
}

// supervisor reports whether the entry is ours. That of another installation is
// not, as long as there is one.
func (a *application) supervisor(e Entry) bool {
	if !e.CallsSupervisor(a.own...) {
		return false
	}
	if a.Living {
		return e.Living()
	}
	program, _ := e.call()
	path, err := exec.LookPath(program)
	return len(a.own) == 0 || err != nil || slices.ContainsFunc(a.own, func(own string) bool { return sameFile(path, own) })
}

// sameFile takes a path that leads nowhere for what it says.
func sameFile(path, own string) bool {
	return path == own || disk.Same(path, own)
}

func (a *application) ours(e Entry) bool { return e.ours() || a.supervisor(e) }

// original reports whether there was nothing of ours in the file.
func (a *application) original() bool {
	return len(a.start.find(a.ours)) == 0 && !slices.ContainsFunc(a.Was, func(p Put) bool { return a.holds(a.start, p) })
}

// left reports whether there is anything of ours now.
func (a *application) left() bool { return len(a.find(a.ours)) > 0 || len(a.put) > 0 }
