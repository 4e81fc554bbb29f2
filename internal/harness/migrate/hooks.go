package migrate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// RemoveHooks takes the hooks of a tool out of Claude Code's settings files of those scopes, in the draft.
// Everything else in the files stays. Each hook is an item of the plan.
func (p *Plan) RemoveHooks(d *Draft, theirs func(settings.Entry) bool, scopes ...settings.Scope) error {
	for _, scope := range scopes {
		if err := p.removeHooks(d, theirs, scope); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) removeHooks(d *Draft, theirs func(settings.Entry) bool, scope settings.Scope) error {
	path, err := settings.Path(scope, d.Root)
	if err != nil {
		return err
	}
	text, err := d.Read(path)
	if err != nil || text == nil {
		return err
	}
	after, gone, err := settings.Without(d.Shown(path), text, theirs)
	if err != nil {
		return settingsFault(err)
	}
	for _, hook := range gone {
		p.Add(Item{
			Where:   d.At(path, hook.At),
			Setting: fmt.Sprintf("hook %s: %s", hook.Event, hook.Line()),
			Fate:    Carried,
			To:      "stopgate's own hook, which stopgate hooks install adds; this one is removed",
		})
		p.Find(d.Shown(path))
	}
	return d.Write(path, after)
}

// KeepHooks lists the hooks of a tool in a settings file that stays as it is, and why it does.
func (p *Plan) KeepHooks(d *Draft, theirs func(settings.Entry) bool, scope settings.Scope, why string) error {
	path, err := settings.Path(scope, d.Root)
	if err != nil {
		return err
	}
	text, err := d.Read(path)
	if err != nil || text == nil {
		return err
	}
	_, found, err := settings.Without(d.Shown(path), text, theirs)
	if err != nil {
		return settingsFault(err)
	}
	for _, hook := range found {
		p.Add(Item{Where: d.At(path, hook.At), Setting: fmt.Sprintf("hook %s: %s", hook.Event, hook.Line()), Fate: Left, Why: why})
		p.Find(d.Shown(path))
	}
	return nil
}

// Find notes a file that shows that the tool is used.
func (p *Plan) Find(name string) {
	if !slices.Contains(p.Found, name) {
		p.Found = append(p.Found, name)
	}
}

// At is a place for people: a file and a line of it.
func (d *Draft) At(path string, line int) string { return fmt.Sprintf("%s:%d", d.Shown(path), line) }

// settingsFault is what keeps a settings file from being changed.
func settingsFault(err error) error {
	if refusal, ok := errors.AsType[*jsonfile.Refusal](err); ok {
		at := document.Position{File: refusal.Name, Line: refusal.Line, Column: refusal.Column}
		return &document.Faults{All: document.All{{Position: at, Message: refusal.Why}}}
	}
	return err
}
