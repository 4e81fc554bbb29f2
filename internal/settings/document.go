package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/hook"
)

// The client accepts a byte order mark, so we keep it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a settings file as a syntax tree that packs to the same bytes.
type document struct {
	name string
	mark []byte
	text []byte // without the mark; offsets in the tree count from its start
	root hujson.Value
}

// parse takes exactly the JSON that the client takes: no comments, no trailing
// commas. An empty file counts as an empty object.
func parse(name string, text []byte) (*document, error) {
	d := &document{name: name}
	if bytes.HasPrefix(text, byteOrderMark) {
		d.mark, text = text[:len(byteOrderMark)], text[len(byteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d.text = text
	// encoding/json is strict and, unlike hujson, has a limit on nesting: eight
	// megabytes of brackets must not end in a stack overflow.
	var strict json.RawMessage
	if err := json.Unmarshal(text, &strict); err != nil {
		return nil, d.syntaxError(err)
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.root = root
	return d, nil
}

func (d *document) pack() []byte {
	return append(bytes.Clone(d.mark), d.root.Pack()...)
}

func (d *document) syntaxError(err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	offset := min(max(int(syntax.Offset)-1, 0), len(d.text))
	return d.refuse(offset, syntaxHint(d.text, offset, err))
}

func syntaxHint(text []byte, offset int, err error) string {
	before := bytes.TrimRight(text[:offset], " \t\r\n")
	switch {
	case offset < len(text) && text[offset] == '/':
		return "the client does not accept comments"
	case offset < len(text) && (text[offset] == '}' || text[offset] == ']') && bytes.HasSuffix(before, []byte(",")):
		return "the client does not accept a trailing comma"
	}
	return err.Error()
}

func (d *document) refuse(offset int, why string) error {
	line, column := d.position(offset)
	return fmt.Errorf("%s:%d:%d: %s", d.name, line, column, why)
}

// position counts from 1, columns in characters.
func (d *document) position(offset int) (line, column int) {
	before := d.text[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

// editable refuses a document in which there is no one place for our entries.
func (d *document) editable() error {
	root, ok := objectOf(&d.root)
	if !ok {
		return d.refuse(d.root.StartOffset, "the top level "+mustBe("an object", &d.root))
	}
	if err := d.unique(root, func(name string) bool { return name == "hooks" }); err != nil {
		return err
	}
	hooks := member(root, "hooks")
	if hooks == nil {
		return nil
	}
	events, ok := objectOf(hooks)
	if !ok {
		return d.refuse(hooks.StartOffset, `"hooks" `+mustBe("an object", hooks))
	}
	if err := d.unique(events, known); err != nil {
		return err
	}
	for i := range events.Members {
		m := &events.Members[i]
		if _, ok := arrayOf(&m.Value); known(stringOf(&m.Name)) && !ok {
			return d.refuse(m.Value.StartOffset, fmt.Sprintf("%q %s", stringOf(&m.Name), mustBe("an array", &m.Value)))
		}
	}
	return nil
}

// known tells events from the other keys that people keep among them (a "//"
// with a remark), which the client ignores whatever their type.
func known(name string) bool { return hook.Event(name).Known() }

func (d *document) unique(object *hujson.Object, matters func(name string) bool) error {
	seen := map[string]bool{}
	for i := range object.Members {
		name := &object.Members[i].Name
		key := stringOf(name)
		if seen[key] && matters(key) {
			return d.refuse(name.StartOffset, fmt.Sprintf("duplicate key %q", key))
		}
		seen[key] = true
	}
	return nil
}

// place is where one entry of ours stands in the tree.
type place struct {
	entry  Entry
	groups *hujson.Array // of the event
	group  *hujson.Object
	hooks  *hujson.Array // of the group
	hook   *hujson.Object
}

// find lists our entries in document order, and everybody else's: of those that
// are no commands only the number counts.
func (d *document) find() (ours []place, foreign []Entry) {
	root, _ := objectOf(&d.root)
	events, _ := objectOf(member(root, "hooks"))
	for name, value := range members(events) {
		groups, _ := arrayOf(value)
		for _, group := range objects(groups) {
			hooks, _ := arrayOf(member(group, "hooks"))
			matcher := stringOf(member(group, "matcher"))
			for _, object := range objects(hooks) {
				if e, ok := readEntry(name, matcher, object); ok {
					ours = append(ours, place{e, groups, group, hooks, object})
				} else {
					foreign = append(foreign, e)
				}
			}
		}
	}
	return ours, foreign
}

func (d *document) entries() []Entry {
	ours, _ := d.find()
	var all []Entry
	for _, p := range ours {
		all = append(all, p.entry)
	}
	return all
}
