package settings

import (
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Put is one value that a launch put into a settings file. An object that had to
// be made for others is a Put of its own, with the value {}, so that it goes with
// the last of them.
type Put struct {
	Path  []string        `json:"path"` // members from the top level on
	Value json.RawMessage `json:"value"`
}

// wishes lists what Merge is made of, parents first. An entry for our supervisor is
// not for others to put there.
func (a *application) wishes() ([]Put, error) {
	d, err := parse("the settings of the launch", a.Merge)
	if err != nil {
		return nil, err
	}
	if err := d.editable(); err != nil {
		return nil, err
	}
	for _, p := range d.find(a.supervisor) {
		p.remove()
	}
	root, _ := d.Object()
	return wishesOf(nil, root), nil
}

func wishesOf(path []string, o *hujson.Object) (all []Put) {
	for name, v := range jsonfile.Members(o) {
		below := append(slices.Clone(path), name)
		if child, ok := jsonfile.ObjectOf(v); ok {
			all = append(all, Put{below, json.RawMessage("{}")})
			all = append(all, wishesOf(below, child)...)
			continue
		}
		value := v.Clone()
		value.Minimize()
		all = append(all, Put{below, value.Pack()})
	}
	return all
}

// parts takes objects apart, as wishes does: somebody may have put more into them.
func parts(puts []Put) (all []Put) {
	for _, p := range puts {
		v, _ := p.value()
		if o, ok := jsonfile.ObjectOf(v); ok && len(o.Members) > 0 {
			all = append(all, Put{p.Path, json.RawMessage("{}")})
			all = append(all, wishesOf(p.Path, o)...)
			continue
		}
		all = append(all, p)
	}
	return all
}

func at(puts []Put, path []string) bool {
	return slices.ContainsFunc(puts, func(p Put) bool { return slices.Equal(p.Path, path) })
}

// takeOut takes out what earlier launches put there and this one does not want.
// What is inside comes before what it is in.
func (a *application) takeOut() {
	was := slices.Clone(a.Was)
	slices.SortStableFunc(was, func(p, q Put) int { return len(q.Path) - len(p.Path) })
	for _, p := range was {
		if !a.wants(p) && a.holds(a.document, p) {
			a.take(p)
		}
	}
}

func (a *application) wants(p Put) bool {
	return slices.ContainsFunc(a.want, func(w Put) bool { return a.same(w, p) })
}

func (a *application) same(p, q Put) bool {
	if !slices.Equal(p.Path, q.Path) {
		return false
	}
	v, ok := p.value()
	w, also := q.value()
	return ok && also && jsonfile.Equal(a.theirs(p.Path, v), a.theirs(q.Path, w))
}

func (p Put) value() (*hujson.Value, bool) {
	if !json.Valid(p.Value) {
		return nil, false
	}
	v, err := hujson.Parse(p.Value)
	if err != nil {
		return nil, false
	}
	return &v, true
}

// holds reports whether the document still has the value as we put it. Where the
// name stands twice, somebody else wrote one of them.
func (a *application) holds(d document, p Put) bool {
	parent, name, ok := p.parent(d)
	if !ok {
		return false
	}
	named := func(m hujson.ObjectMember) bool { return jsonfile.StringOf(&m.Name) == name }
	i := slices.IndexFunc(parent.Members, named)
	if i < 0 || slices.ContainsFunc(parent.Members[i+1:], named) {
		return false
	}
	value, ok := p.value()
	return ok && jsonfile.Equal(a.theirs(p.Path, &parent.Members[i].Value), a.theirs(p.Path, value))
}

// parent is the object in the document that has the value, or is to have it.
func (p Put) parent(d document) (parent *hujson.Object, name string, ok bool) {
	if len(p.Path) == 0 {
		return nil, "", false
	}
	last := len(p.Path) - 1
	parent, ok = jsonfile.ObjectOf(jsonfile.At(d.Root(), p.Path[:last]...))
	return parent, p.Path[last], ok
}

// take removes the value. Groups of ours in the list of an event stay.
func (a *application) take(p Put) {
	parent, name, _ := p.parent(a.document)
	groups, _ := jsonfile.ArrayOf(jsonfile.Member(parent, name))
	if !isEventList(p.Path) || !slices.ContainsFunc(groups.Elements, func(v hujson.Value) bool { return a.oursAlone(name, &v) }) {
		jsonfile.CutMember(parent, name)
		return
	}
	jsonfile.CutElements(groups, func(v *hujson.Value) bool { return !a.oursAlone(name, v) })
}

// merge puts in what is missing and notes what is there because of us.
func (a *application) merge() {
	for _, w := range a.want {
		parent, name, ok := w.parent(a.document)
		if !ok {
			continue // the person has something else in its place
		}
		value := jsonfile.Member(parent, name)
		switch {
		case value == nil:
			a.layout.AppendMember(parent, a.Spot(w.Path[:len(w.Path)-1]...), name, w.Value)
		case a.remains(w):
		case a.onlyOurs(w.Path, value):
			a.join(w, value)
		default:
			continue // the person's own
		}
		a.put = append(a.put, w)
	}
}

// remains reports whether an earlier launch put the value there. An object may have
// got more members since.
func (a *application) remains(w Put) bool {
	if !slices.ContainsFunc(a.Was, func(p Put) bool { return a.same(p, w) }) {
		return false
	}
	if string(w.Value) == "{}" {
		_, ok := jsonfile.ObjectOf(jsonfile.At(a.Root(), w.Path...))
		return ok
	}
	return a.holds(a.document, w)
}

// join adds the groups of an event to a list that has only groups of ours.
func (a *application) join(w Put, list *hujson.Value) {
	groups, _ := jsonfile.ArrayOf(list)
	value, _ := w.value()
	added, _ := jsonfile.ArrayOf(value)
	for i := range added.Elements {
		a.layout.AppendElement(groups, a.Spot(w.Path...), json.RawMessage(added.Elements[i].Pack()))
	}
}

// The list of an event may hold our own entries beside what was put there. They are
// neither the person's nor the launch's settings, so they are not looked at.

func isEventList(path []string) bool { return len(path) == 2 && path[0] == "hooks" && known(path[1]) }

// theirs is the value without the groups that are ours alone.
func (a *application) theirs(path []string, v *hujson.Value) *hujson.Value {
	groups, ok := jsonfile.ArrayOf(v)
	if !ok || !isEventList(path) {
		return v
	}
	rest := &hujson.Array{}
	for _, group := range groups.Elements {
		if !a.oursAlone(path[1], &group) {
			group.AfterExtra = nil // a last one with white space would get a comma
			rest.Elements = append(rest.Elements, group)
		}
	}
	return &hujson.Value{Value: rest}
}

// onlyOurs reports whether v is a list of an event that is there for our groups
// alone. An empty one is somebody's.
func (a *application) onlyOurs(path []string, v *hujson.Value) bool {
	return isEventList(path) && size(v) > 0 && size(a.theirs(path, v)) == 0 && jsonfile.At(a.was.Root(), path...) == nil
}

func (a *application) oursAlone(event string, group *hujson.Value) bool {
	object, _ := jsonfile.ObjectOf(group)
	hooks, _ := jsonfile.ArrayOf(jsonfile.Member(object, "hooks"))
	if hooks == nil || len(hooks.Elements) == 0 {
		return false
	}
	places := placesIn(event, object)
	return len(places) == len(hooks.Elements) && !slices.ContainsFunc(places, func(p place) bool { return !a.ours(p.entry) })
}
