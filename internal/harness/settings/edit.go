package settings

import (
	"bytes"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// edit is a change of a settings file by which something of ours may go.
type edit struct {
	document
	name         string
	text, before []byte   // the file as it is, and as we found it long ago (nil: there was none)
	start, was   document // the same, parsed; was is an empty object where it cannot be
}

func newEdit(name string, text, before []byte) (*edit, error) {
	e := &edit{name: name, text: text, before: before}
	for _, d := range []*document{&e.document, &e.start} {
		var err error
		if *d, err = parse(name, text); err != nil {
			return nil, err
		}
	}
	var err error
	if e.was, err = parse("", before); err != nil {
		e.was, err = parse("", nil)
	}
	if err != nil {
		return nil, err
	}
	return e, e.editable()
}

// tidy removes the events and the hooks object when this change emptied them and
// they were not there before us. What stays empty gets its old white space back.
func (e *edit) tidy(kept func(path ...string) bool) {
	root, _ := e.Object()
	events, _ := jsonfile.ObjectOf(jsonfile.Member(root, "hooks"))
	started, _ := jsonfile.ObjectOf(jsonfile.At(e.start.Root(), "hooks"))
	for event := range jsonfile.Members(started) {
		if e.emptied("hooks", event) && !kept("hooks", event) {
			jsonfile.CutMember(events, event)
		}
	}
	if e.emptied("hooks") && !kept("hooks") {
		jsonfile.CutMember(root, "hooks")
	}
	respace(e.Root(), e.start.Root(), e.was.Root())
}

// emptied reports whether what is at the path has been emptied by this change, and
// was not there before us.
func (e *edit) emptied(path ...string) bool {
	return size(jsonfile.At(e.Root(), path...)) == 0 && size(jsonfile.At(e.start.Root(), path...)) > 0 &&
		jsonfile.At(e.was.Root(), path...) == nil
}

// size is how many members or elements v has, -1 when it can have none.
func size(v *hujson.Value) int {
	if o, ok := jsonfile.ObjectOf(v); ok {
		return len(o.Members)
	}
	if a, ok := jsonfile.ArrayOf(v); ok {
		return len(a.Elements)
	}
	return -1
}

// respace gives each object and array that was emptied since start the white space
// that it had when it was empty before us.
func respace(now, start, was *hujson.Value) {
	if size(now) == 0 && size(start) > 0 && size(was) == 0 && jsonfile.KindOf(now) == jsonfile.KindOf(was) {
		now.Value = was.Clone().Value
		return
	}
	o, _ := jsonfile.ObjectOf(now)
	for name, v := range jsonfile.Members(o) {
		respace(v, jsonfile.At(start, name), jsonfile.At(was, name))
	}
}

// result is the text to write; nil when nothing is left of a file that we made.
// Where nobody else touched the file and nothing of ours is left in it, it is what
// it was, to the byte.
func (e *edit) result() []byte {
	after := e.Text()
	switch {
	case bytes.Equal(after, e.start.Text()):
		return e.text
	case e.before == nil && size(e.Root()) == 0:
		return nil
	case e.before != nil && bytes.Equal(after, e.was.Text()):
		return e.before
	}
	return after
}
