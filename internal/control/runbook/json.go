package runbook

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
)

// parseJSON reads JSON, which runbooks of oddjobs may be written in; nil means that it cannot
// be read, and that a fault says why.
func (s *source) parseJSON() *node {
	r := jsonReader{source: s, decoder: json.NewDecoder(strings.NewReader(s.Text))}
	r.decoder.UseNumber()
	tree := r.value(0)
	if tree != nil {
		if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
			r.broken("unexpected text after the end")
			return nil
		}
	}
	if tree == nil || !s.bounded(tree) {
		return nil
	}
	return tree
}

type jsonReader struct {
	*source
	decoder *json.Decoder
}

// broken records that the text is not JSON, at the place where the reader is.
func (r *jsonReader) broken(why string) {
	r.fault(span{min(int(r.decoder.InputOffset()), len(r.Text)), 1}, "this is not valid JSON: "+why, "")
}

// token reads one, and where it is.
func (r *jsonReader) token() (json.Token, span, bool) {
	before := int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("unexpected end")
		}
		r.broken(err.Error())
		return nil, span{}, false
	}
	after := int(r.decoder.InputOffset())
	skipped := len(r.Text[before:after]) - len(strings.TrimLeft(r.Text[before:after], " \t\r\n,:"))
	return token, span{before + skipped, after - before - skipped}, true
}

// value reads a value; nil means that there is none.
func (r *jsonReader) value(depth int) *node {
	token, at, ok := r.token()
	if !ok {
		return nil
	}
	if depth > maxDepth {
		r.fault(at, "nested more than 100 deep", "")
		return nil
	}

	n := &node{kind: document.Other, at: at, text: r.Text[at.at : at.at+at.size]}
	switch t := token.(type) {
	case string:
		n.kind, n.text = document.Text, t
	case json.Number:
		n.kind = document.Float
	case bool:
		n.kind = document.Boolean
	case json.Delim:
		if !r.inside(n, t, depth) {
			return nil
		}
	}
	return n
}

// inside reads what is between braces or brackets.
func (r *jsonReader) inside(n *node, begin json.Delim, depth int) bool {
	n.kind = document.List
	if begin == '{' {
		n.kind = document.Mapping
	}

	for r.decoder.More() {
		var key entry
		if n.kind == document.Mapping {
			token, at, ok := r.token()
			name, isText := token.(string)
			if !ok || !isText {
				return false
			}
			key = entry{key: name, at: at}
		}

		inner := r.value(depth + 1)
		if inner == nil {
			return false
		}
		if n.kind == document.List {
			n.items = append(n.items, inner)
			continue
		}
		key.node = inner
		r.put(n, key)
	}

	_, _, ok := r.token() // what closes it
	return ok
}
