package settings

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

// layout is how a document is written, so that new text looks like the old.
type layout struct {
	newline string
	unit    string // one step of indentation
	gap     string // after a colon or comma on one line
}

func layoutOf(d *document) layout {
	l := layout{newline: "\n", unit: "  "}
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
	if root, ok := objectOf(&d.root); ok && len(root.Members) > 0 && len(root.Members[0].Value.BeforeExtra) > 0 {
		l.gap = " "
	}
	return l
}

// spot says how the children of one object or array are written.
type spot struct {
	inline bool
	indent string // of the line with the closing bracket
}

func top(d *document) spot {
	if first, _, n := ends(d.root.Value); n > 0 {
		return spot{inline: !hasNewline(first)}
	}
	return spot{inline: !hasNewline(d.text)}
}

// into goes from a parent to a child. An empty child is written as its parent is.
func (s spot) into(m *hujson.ObjectMember) spot {
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
func (l layout) around(parent hujson.ValueTrimmed, s spot, closing hujson.Extra) (before, after hujson.Extra) {
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

func (l layout) appendElement(a *hujson.Array, s spot, v any) {
	before, after := l.around(a, s, a.AfterExtra)
	element := l.render(v, before)
	element.BeforeExtra = before
	a.Elements = append(a.Elements, element)
	a.AfterExtra = after
}

func (l layout) appendMember(o *hujson.Object, s spot, name string, v any) {
	before, after := l.around(o, s, o.AfterExtra)
	o.Members = append(o.Members, l.newMember(name, v, before))
	o.AfterExtra = after
}

func (l layout) prependMember(o *hujson.Object, name string, v any) {
	first, _, n := ends(o)
	o.Members = slices.Insert(o.Members, 0, l.newMember(name, v, first))
	if n > 0 && !hasNewline(first) {
		o.Members[1].Name.BeforeExtra = hujson.Extra(l.gap)
	}
}

func (l layout) newMember(name string, v any, before hujson.Extra) hujson.ObjectMember {
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

// ensure finds the member, or adds it as v.
func (l layout) ensure(o *hujson.Object, s spot, name string, v any) *hujson.ObjectMember {
	if lastMember(o, name) < 0 {
		l.appendMember(o, s, name, v)
	}
	return &o.Members[lastMember(o, name)]
}

// set changes the value of a member, or adds the member at the end of an
// object that has others.
func (l layout) set(o *hujson.Object, name string, v any) {
	m := l.ensure(o, spot{}, name, v)
	value := l.render(v, m.Name.BeforeExtra)
	value.BeforeExtra, value.AfterExtra = m.Value.BeforeExtra, m.Value.AfterExtra
	m.Value = value
}

// render writes v as the text that follows the white space before: on lines of
// its own when that starts a line, otherwise all in one.
func (l layout) render(v any, before hujson.Extra) hujson.Value {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // a path may hold an &
	if hasNewline(before) {
		enc.SetIndent(lastLine(before), l.unit)
	}
	if err := enc.Encode(v); err != nil {
		panic(err) // strings, numbers and lists of them
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
func (l layout) space(v *hujson.Value) {
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
