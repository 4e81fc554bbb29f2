package settings

import "github.com/stopgate/stopgate/internal/sys/jsonfile"

// Uninstall takes our entries out of the settings file at path and reports
// whether that changed the file. When nobody else touched the file since
// Install, it becomes what it was, to the byte; a file that Install made is
// removed. Edits made in between stay.
func Uninstall(path string) (changed bool, err error) {
	err = jsonfile.WithLock(path, func(f *jsonfile.File) error {
		if !f.Exists {
			return nil
		}
		before, err := f.Backup()
		if err != nil {
			return err
		}
		text, err := uninstall(f.Path, f.Text, before)
		if err != nil {
			return err
		}
		if changed, err = restore(f, text); err != nil || hasOurs(text) {
			return err // the supervisor's entry needs the backup yet
		}
		return f.Forget()
	})
	return changed, err
}

// uninstall gives nil when nothing is left of a file that we made. before is
// the file as we found it, nil when there was none.
func uninstall(name string, text, before []byte) ([]byte, error) {
	e, err := newEdit(name, text, before)
	if err != nil {
		return nil, err
	}
	ours := e.find(Entry.ours)
	for _, p := range ours {
		p.remove()
	}
	if len(ours) > 0 { // it comes with the hooks; alone a person put it there
		e.removeStatusLine()
	}
	e.tidy(func(...string) bool { return false })
	return e.result(), nil
}
