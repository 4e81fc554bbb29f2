package settings

import (
	"bytes"

	"github.com/tailscale/hujson"
)

// Uninstall takes our entries out of the settings file at path and reports
// whether that changed the file. When nobody else touched the file since
// Install, it becomes what it was, to the byte; a file that Install made is
// removed. Edits made in between stay.
func Uninstall(path string) (changed bool, err error) {
	err = withFile(path, func(f *file) error {
		if !f.exists {
			return nil
		}
		before, err := f.backup()
		if err != nil {
			return err
		}
		text, err := uninstall(f.path, f.text, before)
		if err != nil {
			return err
		}
		if changed, err = f.restore(text); err != nil {
			return err
		}
		return f.dropBackup()
	})
	return changed, err
}

// uninstall gives nil when nothing is left of a file that we made. before is
// the file as we found it, nil when there was none.
func uninstall(name string, text, before []byte) ([]byte, error) {
	d, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	if err := d.editable(); err != nil {
		return nil, err
	}
	ours, _ := d.find()
	if len(ours) == 0 {
		return text, nil
	}
	if untouched(text, before, d.entries()) {
		return before, nil
	}
	d.strip(ours, before)
	if root, _ := objectOf(&d.root); before == nil && len(root.Members) == 0 {
		return nil, nil
	}
	return d.pack(), nil
}

// untouched reports whether the file is what installing makes of the backup.
func untouched(text, before []byte, entries []Entry) bool {
	if before == nil {
		return false
	}
	d, err := parse("", before)
	if err != nil || len(d.entries()) > 0 {
		return false // then the backup is no file without us
	}
	// Install writes a timeout always, so an entry without one is no match.
	again, err := install("", before, entries)
	return err == nil && bytes.Equal(again, text)
}

// strip removes our entries, and the event and the hooks object when that
// leaves them empty and they were not there before us.
func (d *document) strip(ours []place, before []byte) {
	for _, p := range ours {
		p.remove()
	}
	var wasRoot *hujson.Object
	if was, err := parse("", before); err == nil {
		wasRoot, _ = objectOf(&was.root)
	}
	wasEvents, _ := objectOf(member(wasRoot, "hooks"))

	root, _ := objectOf(&d.root)
	events, _ := objectOf(member(root, "hooks"))
	for _, p := range ours {
		event := string(p.entry.Event)
		if len(p.groups.Elements) == 0 && member(wasEvents, event) == nil {
			cutMember(events, event)
		}
	}
	if len(events.Members) == 0 && member(wasRoot, "hooks") == nil {
		cutMember(root, "hooks")
	}
}
