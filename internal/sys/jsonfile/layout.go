package jsonfile

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

// Layout is how a document is written, so that new text looks like the old.
type Layout struct {
	newline string
	unit    string // one step of indentation
	gap     string // after a colon or comma on one line
}

// Layout is the layout of the text that was parsed.
func (d *Document) Layout() Layout {
	l := Layout{newline: "\n", unit: "  "}
	lines := bytes.SplitAfter(d.text, []byte("\n"))
	if bytes.HasSuffix(lines[0], []byte("\r\n")) {
		l.newline = "\r\n"
	}
	for _, line := range lines[1:] {
		rest := bytes.TrimLeft(line, " \t")
		if blank := len(bytes.TrimSpace(rest)) == 0; !blank && len(rest) < len(line) {
			l.unit = string(line[:len(line)-len(rest)])
			break
		}
	}
	if root, ok := ObjectOf(&d.root); ok && len(root.Members) > 0 && len(root.Members[0].Value.BeforeExtra) > 0 {
		l.gap = " "
	}
	return l
}

// Spot says how the children of one object or array are written.
type Spot struct {
	inline bool
	indent string // of the line with the closing bracket
}

// Spot is the spot of the object or array at the end of the path, which must be
// there.
func (d *Document) Spot(path ...string) Spot {
	s := Spot{inline: !hasNewline(d.text)}
	if first, _, n := ends(d.root.Value); n > 0 {
		s.inline = !hasNewline(first)
	}
	object, _ := d.Object()
	for _, name := range path {
		m := &object.Members[lastMember(object, name)]
		s = s.into(m)
		object, _ = ObjectOf(&m.Value)
	}
	return s
}

// into goes from a parent to a child. An empty child is written as its parent is.
func (s Spot) into(m *hujson.ObjectMember) Spot {
	if hasNewline(m.Name.BeforeExtra) {
		s.indent = lastLine(m.Name.BeforeExtra)
	}
	if first, _, n := ends(m.Value.Value); n > 0 {
		s.inline = !hasNewline(first)
	}
	return s
}

// ends gives the white space before the first and the last of n children.
func ends(v hujson.ValueTrimmed) (first, last hujson.Extra, n int) {
	switch v := v.(type) {
	case *hujson.Object:
		if n = len(v.Members); n > 0 {
			return v.Members[0].Name.BeforeExtra, v.Members[n-1].Name.BeforeExtra, n
		}
	case *hujson.Array:
		if n = len(v.Elements); n > 0 {
			return v.Elements[0].BeforeExtra, v.Elements[n-1].BeforeExtra, n
		}
	}
	return nil, nil, 0
}

// around gives the white space before a new last child, and the one before the
// closing bracket after it.
func (l Layout) around(parent hujson.ValueTrimmed, s Spot, closing hujson.Extra) (before, after hujson.Extra) {
	_, last, n := ends(parent)
	switch {
	case n == 0 && s.inline:
		return nil, nil
	case n == 0:
		return hujson.Extra(l.newline + s.indent + l.unit), hujson.Extra(l.newline + s.indent)
	case hasNewline(last):
		return hujson.Extra(l.newline + lastLine(last)), closing
	case n == 1:
		return hujson.Extra(l.gap), closing
	}
	return slices.Clone(last), closing
}

// AppendElement adds v as the last element.
func (l Layout) AppendElement(a *hujson.Array, s Spot, v any) {
	before, after := l.around(a, s, a.AfterExtra)
	element := l.render(v, before)
	element.BeforeExtra = before
	a.Elements = append(a.Elements, element)
	a.AfterExtra = after
}

// AppendMember adds v as the last member.
func (l Layout) AppendMember(o *hujson.Object, s Spot, name string, v any) {
	before, after := l.around(o, s, o.AfterExtra)
	o.Members = append(o.Members, l.newMember(name, v, before))
	o.AfterExtra = after
}

// PrependMember adds v as the first member.
func (l Layout) PrependMember(o *hujson.Object, name string, v any) {
	first, _, n := ends(o)
	o.Members = slices.Insert(o.Members, 0, l.newMember(name, v, first))
	if n > 0 && !hasNewline(first) {
		o.Members[1].Name.BeforeExtra = hujson.Extra(l.gap)
	}
}

func (l Layout) newMember(name string, v any, before hujson.Extra) hujson.ObjectMember {
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: l.render(v, before),
	}
	m.Value.BeforeExtra = hujson.Extra(l.gap)
	if hasNewline(before) {
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	return m
}

// Ensure finds the member, or adds it as v.
func (l Layout) Ensure(o *hujson.Object, s Spot, name string, v any) *hujson.Value {
	if lastMember(o, name) < 0 {
		l.AppendMember(o, s, name, v)
	}
	return Member(o, name)
}

// Set changes the value of a member, or adds the member at the end of an
// object that has others.
func (l Layout) Set(o *hujson.Object, name string, v any) {
	old := l.Ensure(o, Spot{}, name, v)
	value := l.render(v, o.Members[lastMember(o, name)].Name.BeforeExtra)
	value.BeforeExtra, value.AfterExtra = old.BeforeExtra, old.AfterExtra
	*old = value
}

// render writes v as the text that follows the white space before: on lines of
// its own when that starts a line, otherwise all in one.
func (l Layout) render(v any, before hujson.Extra) hujson.Value {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a path may hold an &
	if hasNewline(before) {
		enc.SetIndent(lastLine(before), l.unit)
	}
	if err := enc.Encode(v); err != nil {
		panic(err) // our own values, or JSON that was parsed before
	}
	lines := bytes.ReplaceAll(bytes.TrimSpace(text.Bytes()), []byte("\n"), []byte(l.newline))
	value, err := hujson.Parse(lines)
	if err != nil {
		panic(err)
	}
	if !hasNewline(before) {
		l.space(&value)
	}
	return value
}

// space puts the gap after each colon and comma.
func (l Layout) space(v *hujson.Value) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			if i > 0 {
				v.Members[i].Name.BeforeExtra = hujson.Extra(l.gap)
			}
			v.Members[i].Value.BeforeExtra = hujson.Extra(l.gap)
			l.space(&v.Members[i].Value)
		}
	case *hujson.Array:
		for i := range v.Elements {
			if i > 0 {
				v.Elements[i].BeforeExtra = hujson.Extra(l.gap)
			}
			l.space(&v.Elements[i])
		}
	}
}

func hasNewline(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

func lastLine(b []byte) string { return string(b[bytes.LastIndexByte(b, '\n')+1:]) }
