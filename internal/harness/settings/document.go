package settings

import (
	"fmt"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// document is a settings file.
type document struct{ *jsonfile.Document }

// parse takes exactly the JSON that Claude Code takes.
func parse(name string, text []byte) (document, error) {
	d, err := jsonfile.Parse(name, text)
	return document{d}, err
}

// editable refuses a document in which there is no one place for our entries.
func (d document) editable() error {
	if err := d.NeedObject(); err != nil {
		return err
	}
	root, _ := d.Object()
	if err := d.Unique(root, func(name string) bool { return name == "hooks" }); err != nil {
		return err
	}

	hooks := jsonfile.Member(root, "hooks")
	if hooks == nil {
		return nil
	}

	events, ok := jsonfile.ObjectOf(hooks)
	if !ok {
		return d.Refuse(hooks, `"hooks" `+jsonfile.MustBe("an object", hooks))
	}
	if err := d.Unique(events, known); err != nil {
		return err
	}
	for name, v := range jsonfile.Members(events) {
		if _, ok := jsonfile.ArrayOf(v); known(name) && !ok {
			return d.Refuse(v, fmt.Sprintf("%q %s", name, jsonfile.MustBe("an array", v)))
		}
	}
	return nil
}

// known tells events from the other keys that people keep among them (a "//"
// with a remark), which Claude Code ignores whatever their type.
func known(name string) bool { return hook.Event(name).Known() }

// place is where one hook stands in the tree.
type place struct {
	entry  Entry         // of a command; of other hooks it is empty
	groups *hujson.Array // of the event
	group  *hujson.Object
	hooks  *hujson.Array // of the group
	hook   *hujson.Object
}

// places lists all hooks in document order.
func (d document) places() (all []place) {
	events, _ := jsonfile.ObjectOf(jsonfile.At(d.Root(), "hooks"))
	for event, value := range jsonfile.Members(events) {
		groups, _ := jsonfile.ArrayOf(value)
		for _, group := range jsonfile.Objects(groups) {
			for _, p := range placesIn(event, group) {
				p.groups = groups
				all = append(all, p)
			}
		}
	}
	return all
}

func placesIn(event string, group *hujson.Object) (all []place) {
	hooks, _ := jsonfile.ArrayOf(jsonfile.Member(group, "hooks"))
	matcher := jsonfile.StringOf(jsonfile.Member(group, "matcher"))
	for _, object := range jsonfile.Objects(hooks) {
		all = append(all, place{entry: readEntry(event, matcher, object), group: group, hooks: hooks, hook: object})
	}
	return all
}

// find lists the hooks of one kind.
func (d document) find(kind func(Entry) bool) (found []place) {
	for _, p := range d.places() {
		if kind(p.entry) {
			found = append(found, p)
		}
	}
	return found
}

// remove takes the hook out, and its group with it when nothing else is in it.
func (p place) remove() {
	jsonfile.CutElements(p.hooks, func(v *hujson.Value) bool { return v.Value == p.hook })
	if len(p.hooks.Elements) == 0 {
		jsonfile.CutElements(p.groups, func(v *hujson.Value) bool { return v.Value == p.group })
	}
}
