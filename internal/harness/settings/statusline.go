package settings

import (
	"errors"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// statusLineKey is Claude Code's name for it, in the settings.
const statusLineKey = "statusLine"

// StatusLine is the status line of one settings file.
type StatusLine struct {
	Path    string
	Command string // empty where it is not one that Claude Code takes
	Ours    bool
}

// StatusLines are those of the settings files that count in the project, the one in force last. A file that cannot be read
// has none: Claude Code ignores it.
func StatusLines(root string) (all []StatusLine) {
	for _, at := range inForce(root, root) {
		found, err := jsonfile.Read(at.path)
		if err != nil || found.NeedObject() != nil {
			continue
		}
		object, _ := found.Object()
		if v := jsonfile.Member(object, statusLineKey); v != nil {
			all = append(all, StatusLine{Path: at.path, Command: statusCommand(v), Ours: isOurStatusLine(v)})
		}
	}
	return all
}

// InstallStatusLine gives the settings file at path, which has our hooks, a status line that the
// program prints. One that is there stays as it is.
func InstallStatusLine(path, program string) error {
	return jsonfile.WithLock(path, func(f *jsonfile.File) error {
		d, err := jsonfile.Parse(f.Path, f.Text)
		if err != nil {
			return err
		}
		if err := d.NeedObject(); err != nil {
			return err
		}
		object, _ := d.Object()
		if jsonfile.Member(object, statusLineKey) != nil {
			return nil
		}
		if !hasOurs(f.Text) {
			return errors.New(f.Path + " has none of our hooks") // else nothing would take it out again
		}
		d.Set(statusLineKey, struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Refresh int    `json:"refreshInterval"` // seconds; else a stop shows with the next message
		}{"command", ShellCommand(program, "statusline"), 5})
		_, err = replace(f, d.Text(), false)
		return err
	})
}

// removeStatusLine takes ours out, unless it was there before us: then a person put it in.
func (e *edit) removeStatusLine() {
	object, _ := e.Object()
	v := jsonfile.Member(object, statusLineKey)
	if v != nil && isOurStatusLine(v) && jsonfile.At(e.was.Root(), statusLineKey) == nil {
		jsonfile.CutMember(object, statusLineKey)
	}
}

// isOurStatusLine tells a status line that is our own from one that a person wrote, also one that
// calls us among other things.
func isOurStatusLine(v *hujson.Value) bool {
	program, arguments := Entry{Command: statusCommand(v)}.call()
	if !slices.Equal(arguments, []string{"statusline"}) || baseName(program) != Program {
		return false
	}
	path, found := resolve(program)
	return !found || isSelf(path) || program == Program
}

func statusCommand(v *hujson.Value) string { return jsonfile.StringOf(jsonfile.At(v, "command")) }
