package migrate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// tool is how the hooks of an older tool are known.
type tool struct {
	name  string // as people know it
	share func(settings.Entry) settings.Share
	// both is what comes of it where the tool and stopgate are called.
	both string
}

// RemoveHooks takes the hooks of a tool out of Claude Code's settings files of those scopes, in the draft.
// Everything else in the files stays, also a hook that calls the tool and does more. Each hook is an item of
// the plan.
func (p *Plan) RemoveHooks(d *Draft, t tool, scopes ...settings.Scope) error {
	for _, scope := range scopes {
		if err := d.note(p.removeHooks(d, t, scope)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) removeHooks(d *Draft, t tool, scope settings.Scope) error {
	path, text, err := d.settings(scope)
	if err != nil || text == nil {
		return err
	}
	kept, err := t.hooksIn(d.Shown(path), text, settings.PartTheirs)
	if err != nil {
		return err
	}
	p.keep(d, path, kept, t.inPart())

	after, gone, err := settings.Without(d.Shown(path), text, t.owns(settings.AllTheirs))
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

// ReplaceHooks takes the hooks of a tool out of the project's settings files, and lists those that stay: the
// person's own, and those of plugins, agents, commands and skills.
func (p *Plan) ReplaceHooks(d *Draft, t tool) error {
	if err := p.RemoveHooks(d, t, settings.Project, settings.Local); err != nil {
		return err
	}
	if err := d.note(p.keepUserHooks(d, t)); err != nil {
		return err
	}
	p.KeepPlugins(d, t)
	return p.KeepFrontMatter(d, t)
}

func (p *Plan) keepUserHooks(d *Draft, t tool) error {
	path, text, err := d.settings(settings.User)
	if err != nil || text == nil {
		return err
	}
	all, err := t.hooksIn(d.Shown(path), text, settings.AllTheirs)
	if err != nil {
		return err
	}
	part, err := t.hooksIn(d.Shown(path), text, settings.PartTheirs)
	p.keep(d, path, all, "it serves all your projects: remove it once each of them was migrated, or "+t.both)
	p.keep(d, path, part, t.inPart())
	return err
}

// keep lists hooks that stay.
func (p *Plan) keep(d *Draft, path string, hooks []settings.Found, why string) {
	for _, hook := range hooks {
		p.Add(Item{Where: d.At(path, hook.At), Setting: fmt.Sprintf("hook %s: %s", hook.Event, hook.Line()), Fate: Left, Why: why})
		p.Find(d.Shown(path))
	}
}

// inPart is why a hook stays that calls the tool and may do more.
func (t tool) inPart() string {
	return fmt.Sprintf("it seems to call %s, and may do more: take the call out of it yourself, or %s", t.name, t.both)
}

func (t tool) owns(share settings.Share) func(settings.Entry) bool {
	return func(e settings.Entry) bool { return t.share(e) == share }
}

func (t tool) hooksIn(shown string, text []byte, share settings.Share) ([]settings.Found, error) {
	_, found, err := settings.Without(shown, text, t.owns(share))
	if err != nil {
		return nil, settingsFault(err)
	}
	return found, nil
}

// settings is the settings file of a scope; nil text where there is none.
func (d *Draft) settings(scope settings.Scope) (path string, text []byte, err error) {
	path, err = settings.Path(scope, d.Root)
	if err != nil {
		return "", nil, err
	}
	text, err = d.Read(path)
	return path, text, err
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
