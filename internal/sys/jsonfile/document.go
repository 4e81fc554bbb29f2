// Package jsonfile handles JSON files that people write too: they are read with
// positions, edited as text, and replaced atomically under a lock.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// ByteOrderMark at the start of a file is accepted and kept.
const ByteOrderMark = "\xef\xbb\xbf"

// Document is a file as a syntax tree that packs to the same bytes.
type Document struct {
	name string
	mark []byte
	text []byte // without the mark; offsets in the tree count from its start
	root hujson.Value
}

// Parse takes JSON and nothing else: no comments, no trailing commas. An empty
// text counts as an empty object. The name is for errors.
func Parse(name string, text []byte) (*Document, error) {
	d := &Document{name: name}
	if bytes.HasPrefix(text, []byte(ByteOrderMark)) {
		d.mark, text = text[:len(ByteOrderMark)], text[len(ByteOrderMark):]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d.text = text
	// encoding/json is strict and, unlike hujson, has a limit on nesting: eight
	// megabytes of brackets must not end in a stack overflow.
	if !json.Valid(text) {
		return nil, d.syntaxError(json.Unmarshal(text, new(json.RawMessage)))
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d.root = root
	return d, nil
}

// Read reads and parses a regular file.
func Read(path string) (*Document, error) {
	text, err := ReadText(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Text is the document with the changes that were made.
func (d *Document) Text() []byte {
	return append(bytes.Clone(d.mark), d.root.Pack()...)
}

// Decode stores the document in v, as encoding/json does.
func (d *Document) Decode(v any) error {
	if err := json.Unmarshal(d.root.Pack(), v); err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return nil
}

// Root is the top of the syntax tree.
func (d *Document) Root() *hujson.Value { return &d.root }

// Object is the top level, where it is an object.
func (d *Document) Object() (*hujson.Object, bool) { return ObjectOf(&d.root) }

// NeedObject refuses a document whose top level is anything but an object.
func (d *Document) NeedObject() error {
	if _, ok := d.Object(); !ok {
		return d.Refuse(&d.root, "the top level "+MustBe("an object", &d.root))
	}
	return nil
}

// Set changes a member of the top level where it stands, or adds it at the end in
// the layout of the rest. Every other byte stays, and so does a value that means
// the same already. The top level must be an object, and v something that
// encoding/json can write.
func (d *Document) Set(name string, v any) {
	root, _ := d.Object()
	l := d.Layout()
	if i := lastMember(root, name); i >= 0 {
		if !Equal(&root.Members[i].Value, new(l.render(v, nil))) {
			l.Set(root, name, v)
		}
		return
	}
	l.AppendMember(root, d.Spot(), name, v)
}

// LineOf is the line on which v begins, counted from 1.
func (d *Document) LineOf(v *hujson.Value) int {
	line, _ := d.position(v.StartOffset)
	return line
}

// Position is the place of v. It counts from 1, columns in characters.
func (d *Document) Position(v *hujson.Value) (line, column int) { return d.position(v.StartOffset) }

// Refuse is an error that points at v.
func (d *Document) Refuse(v *hujson.Value, why string) error {
	return d.refuse(v.StartOffset, why)
}

func (d *Document) refuse(offset int, why string) error {
	line, column := d.position(offset)
	return &Refusal{Name: d.name, Line: line, Column: column, Why: why}
}

// Refusal is an error at one place of a document.
type Refusal struct {
	Name         string // of the document, as a rule its path
	Line, Column int
	Why          string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", r.Name, r.Line, r.Column, r.Why)
}

// position counts from 1, columns in characters.
func (d *Document) position(offset int) (line, column int) {
	before := d.text[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return line, column
}

func (d *Document) syntaxError(err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	offset := min(max(int(syntax.Offset)-1, 0), len(d.text))
	return d.refuse(offset, syntaxHint(d.text, offset, err))
}

func syntaxHint(text []byte, offset int, err error) string {
	before := bytes.TrimRight(text[:offset], " \t\r\n")
	switch {
	case offset < len(text) && text[offset] == '/':
		return "JSON has no comments"
	case offset < len(text) && (text[offset] == '}' || text[offset] == ']') && bytes.HasSuffix(before, []byte(",")):
		return "JSON has no trailing comma"
	}
	return err.Error()
}

// Unique refuses an object in which a name that matters stands twice.
func (d *Document) Unique(object *hujson.Object, matters func(name string) bool) error {
	seen := map[string]bool{}
	for i := range object.Members {
		name := &object.Members[i].Name
		key := StringOf(name)
		if seen[key] && matters(key) {
			return d.Refuse(name, fmt.Sprintf("duplicate key %q", key))
		}
		seen[key] = true
	}
	return nil
}
