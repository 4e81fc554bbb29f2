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

	"github.com/stopgate/stopgate/internal/hook"
)

// Install makes the entries the only ones of ours for their events in the
// settings file at path, and reports whether that changed the file. Entries of
// ours for other events stay, and so does every byte that is not ours. An
// entry without a timeout gets the default.
//
// A file that the client would not take even then, or that has no one place for
// the entries, is refused with its position and not touched.
func Install(path string, entries []Entry) (changed bool, err error) {
	err = withFile(path, func(f *file) error {
		text, err := acceptable(f.path, f.text, entries)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			changed, err = f.replace(text)
		}
		return err
	})
	return changed, err
}

// Check returns the error that Install would, as far as it is one of the
// content, and writes nothing.
func Check(path string, entries []Entry) error {
	text, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err = acceptable(path, text, entries)
	return err
}

// acceptable is install, unless the client would drop the file. Faults in
// entries of ours are mended by installing; if others are left, all are named
// where the person finds them.
func acceptable(name string, text []byte, entries []Entry) ([]byte, error) {
	after, err := install(name, text, entries)
	if err != nil {
		return nil, err
	}
	d, err := parse(name, after)
	if err != nil {
		return nil, err
	}
	if len(d.faults(User)) == 0 {
		return after, nil
	}
	if d, err = parse(name, text); err != nil {
		return nil, err
	}
	why := []string{"the client drops the whole file, so hooks in it would do nothing:"}
	for _, fault := range d.faults(User) {
		why = append(why, fmt.Sprintf("%s:%s", name, fault))
	}
	return nil, errors.New(strings.Join(why, "\n"))
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
	l := layoutOf(d)
	for _, event := range eventsOf(entries) {
		d.installEvent(l, event, wanted(entries, event))
	}
	return d.pack(), nil
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

// installEvent pairs what is wanted with what is there, best match first, so
// that an entry whose path or timeout changed is rewritten where it stands.
func (d *document) installEvent(l layout, event hook.Event, want []Entry) {
	ours, _ := d.find()
	have := slices.DeleteFunc(ours, func(p place) bool { return p.entry.Event != event })

	asIs := func(Entry, place) {}
	want, have = pair(want, have, func(e Entry, p place) bool { return e.equal(p.entry) }, asIs)
	want, have = pair(want, have, func(e Entry, p place) bool { return e.Matcher == p.entry.Matcher }, l.rewrite)
	want, have = pair(want, have, func(_ Entry, p place) bool { return len(p.hooks.Elements) == 1 }, l.rewrite)

	for _, p := range have {
		p.remove()
	}
	for _, e := range want {
		groups, s := d.groups(l, event)
		l.appendElement(groups, s, groupOf(e))
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
func (l layout) rewrite(e Entry, p place) {
	old, fresh := p.entry, hookOf(e)
	if old.Command != e.Command {
		l.set(p.hook, "command", fresh.Command)
	}
	switch {
	case slices.Equal(old.Args, e.Args):
	case len(e.Args) == 0:
		cutMember(p.hook, "args")
	default:
		l.set(p.hook, "args", fresh.Args)
	}
	for _, key := range old.Spoilt {
		cutMember(p.hook, key)
	}
	if old.Timeout != e.Timeout {
		l.set(p.hook, "timeout", fresh.Timeout)
	}
	switch {
	case old.Matcher == e.Matcher:
	case e.Matcher == "":
		cutMember(p.group, "matcher")
	case member(p.group, "matcher") == nil:
		l.prependMember(p.group, "matcher", e.Matcher)
	default:
		l.set(p.group, "matcher", e.Matcher)
	}
}

// remove takes the entry out, and its group with it when nothing else is in it.
func (p place) remove() {
	cutElement(p.hooks, p.hook)
	if len(p.hooks.Elements) == 0 {
		cutElement(p.groups, p.group)
	}
}

// groups finds or makes the array of the event, in a document that is editable.
func (d *document) groups(l layout, event hook.Event) (*hujson.Array, spot) {
	root, _ := objectOf(&d.root)
	s := top(d)
	hooks := l.ensure(root, s, "hooks", struct{}{})
	s = s.into(hooks)
	events, _ := objectOf(&hooks.Value)
	groups := l.ensure(events, s, string(event), []string{})
	array, _ := arrayOf(&groups.Value)
	return array, s.into(groups)
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
	}
}
