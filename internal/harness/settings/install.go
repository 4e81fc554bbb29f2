package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Install makes the entries the only ones of ours for their events in the
// settings file at path, and reports whether that changed the file. Entries of
// ours for other events stay, and so does every byte that is not ours. An
// entry without a timeout gets the default.
//
// A file that Claude Code would not take even then, or that has no one place for
// the entries, is refused with its position and not touched.
func Install(path string, entries []Entry) (changed bool, err error) {
	err = jsonfile.WithLock(path, func(f *jsonfile.File) error {
		text, err := acceptable(f.Path, f.Text, entries)
		if err != nil || len(entries) == 0 {
			return err
		}
		if !f.Exists {
			f.Mode = newMode(f.Path)
		}
		changed, err = replace(f, text, !hasOurs(f.Text))
		return err
	})
	return changed && err == nil, err
}

// hasOurs reports whether there are entries of ours, of whatever kind. Another tool has a ccc
// too.
func hasOurs(text []byte) bool {
	d, err := parse("", text)
	return err == nil && len(d.find(func(e Entry) bool { return e.ours() || e.CallsSupervisor() && e.Living() })) > 0
}

// Check returns the error that Install would, as far as it is one of the
// content, and writes nothing.
func Check(path string, entries []Entry) error {
	text, err := jsonfile.ReadText(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = acceptable(path, text, entries)
	return err
}

// acceptable is install, unless Claude Code would drop the file. Faults in
// entries of ours are fixed by installing; if others are left, all are named
// where the person finds them.
func acceptable(name string, text []byte, entries []Entry) ([]byte, error) {
	after, err := install(name, text, entries)
	if err != nil {
		return nil, err
	}
	return after, inForceAfter(name, text, after)
}

// inForceAfter is an error when Claude Code would drop the file that has become
// after. Where that is due to what the file was before, the faults are named as
// they stand there.
func inForceAfter(name string, text, after []byte) error {
	d, err := parse(name, after)
	if err != nil {
		return err
	}
	faults := d.faults(User)
	if len(faults) == 0 {
		return nil
	}
	why := []string{"Claude Code ignores the whole file, so hooks in it would do nothing:"}
	if d, err = parse(name, text); err != nil {
		return err
	}
	for _, fault := range d.faults(User) {
		why = append(why, fmt.Sprintf("%s:%s", name, fault))
	}
	if len(why) == 1 {
		why[0] = "with these settings Claude Code would ignore the whole file " + name + ":"
		for _, fault := range faults {
			why = append(why, fault.Path+" "+fault.Text)
		}
	}
	return errors.New(strings.Join(why, "\n"))
}

func install(name string, text []byte, entries []Entry) ([]byte, error) {
	for _, e := range entries {
		if err := e.valid(); err != nil {
			return nil, err
		}
	}
	d, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	if err := d.editable(); err != nil {
		return nil, err
	}
	l := d.Layout()
	for _, event := range eventsOf(entries) {
		d.installEvent(l, event, wanted(entries, event), Entry.ours)
	}
	return d.Text(), nil
}

func eventsOf(entries []Entry) []hook.Event {
	var all []hook.Event
	for _, e := range entries {
		if !slices.Contains(all, e.Event) {
			all = append(all, e.Event)
		}
	}
	return all
}

func wanted(entries []Entry, event hook.Event) []Entry {
	var all []Entry
	for _, e := range entries {
		if e.Timeout == 0 {
			e.Timeout = DefaultTimeout(event)
		}
		if e.Event == event && !slices.ContainsFunc(all, e.equal) {
			all = append(all, e)
		}
	}
	return all
}

// installEvent pairs what is wanted with what is there of the same kind, best match
// first, so that an entry whose path or timeout changed is rewritten where it
// stands.
func (d document) installEvent(l jsonfile.Layout, event hook.Event, want []Entry, kind func(Entry) bool) {
	have := d.find(func(e Entry) bool { return e.Event == event && kind(e) })

	asIs := func(Entry, place) {}
	rewrite := func(e Entry, p place) { p.rewrite(l, e) }
	want, have = pair(want, have, func(e Entry, p place) bool { return e.equal(p.entry) }, asIs)
	want, have = pair(want, have, func(e Entry, p place) bool { return e.Matcher == p.entry.Matcher }, rewrite)
	want, have = pair(want, have, func(_ Entry, p place) bool { return len(p.hooks.Elements) == 1 }, rewrite)

	for _, p := range have {
		p.remove()
	}
	for _, e := range want {
		groups, s := d.groups(l, event)
		l.AppendElement(groups, s, groupOf(e))
	}
}

// pair acts on each wanted entry and the first free place that fits, and
// returns what is left of both.
func pair(want []Entry, have []place, fits func(Entry, place) bool, act func(Entry, place)) ([]Entry, []place) {
	var left []Entry
	for _, e := range want {
		i := slices.IndexFunc(have, func(p place) bool { return fits(e, p) })
		if i < 0 {
			left = append(left, e)
			continue
		}
		act(e, have[i])
		have = slices.Delete(have, i, i+1)
	}
	return left, have
}

// rewrite changes only what differs: a remark or a status message that someone
// added to our entry stays.
func (p place) rewrite(l jsonfile.Layout, e Entry) {
	old, fresh := p.entry, hookOf(e)
	if old.Command != e.Command {
		l.Set(p.hook, "command", fresh.Command)
	}

	switch {
	case slices.Equal(old.Args, e.Args):
	case len(e.Args) == 0:
		jsonfile.CutMember(p.hook, "args")
	default:
		l.Set(p.hook, "args", fresh.Args)
	}

	for _, key := range old.Spoilt {
		jsonfile.CutMember(p.hook, key)
	}
	if old.Timeout != e.Timeout {
		l.Set(p.hook, "timeout", fresh.Timeout)
	}
	if old.Status == "" && e.Status != "" {
		l.Set(p.hook, "statusMessage", fresh.Status)
	}

	switch {
	case old.Matcher == e.Matcher:
	case e.Matcher == "":
		jsonfile.CutMember(p.group, "matcher")
	case jsonfile.Member(p.group, "matcher") == nil:
		l.PrependMember(p.group, "matcher", e.Matcher)
	default:
		l.Set(p.group, "matcher", e.Matcher)
	}
}

// groups finds or makes the array of the event, in a document that is editable.
func (d document) groups(l jsonfile.Layout, event hook.Event) (*hujson.Array, jsonfile.Spot) {
	root, _ := d.Object()
	events, _ := jsonfile.ObjectOf(l.Ensure(root, d.Spot(), "hooks", struct{}{}))
	groups, _ := jsonfile.ArrayOf(l.Ensure(events, d.Spot("hooks"), string(event), []string{}))
	return groups, d.Spot("hooks", string(event))
}

type groupJSON struct {
	Matcher string     `json:"matcher,omitempty"`
	Hooks   []hookJSON `json:"hooks"`
}

type hookJSON struct {
	Type    string      `json:"type"`
	Command string      `json:"command"`
	Args    []string    `json:"args,omitempty"`
	Timeout json.Number `json:"timeout"`
	Status  string      `json:"statusMessage,omitempty"`
}

func groupOf(e Entry) groupJSON {
	return groupJSON{Matcher: e.Matcher, Hooks: []hookJSON{hookOf(e)}}
}

func hookOf(e Entry) hookJSON {
	return hookJSON{
		Type:    "command",
		Command: e.Command,
		Args:    e.Args,
		Timeout: json.Number(strconv.FormatFloat(e.Timeout.Seconds(), 'f', -1, 64)),
		Status:  e.Status,
	}
}
