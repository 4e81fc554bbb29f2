package registry

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Load reads the registry. A missing file is an empty one. A fault costs no more than
// what it stands in, and that in the safe direction: a list of commands that cannot be
// read permits none, and so does a file of which that is all that is known. So there is
// a registry also beside an error, which names every fault with its place.
func Load(path string) (*Registry, error) {
	r, err := read(path, false)
	if err != nil {
		return &Registry{unread: true}, err
	}
	registry := &Registry{unread: r.unread}
	for _, p := range r.parsed {
		registry.entries = append(registry.entries, p.entry)
	}
	return registry, r.err()
}

// read reads the file. That there is none is no error.
func read(path string, strict bool) (*reader, error) {
	r := &reader{path: path, strict: strict, at: whole}
	doc, err := jsonfile.Read(path)
	var refusal *jsonfile.Refusal
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case errors.As(err, &refusal):
		fault := document.Fault{Position: document.Position{File: path, Line: refusal.Line, Column: refusal.Column}, Message: refusal.Why}
		fault.Hint = "no agent is woken until this is fixed"
		return nil, &document.Faults{All: []document.Fault{fault}}
	case err != nil:
		return nil, err
	}
	r.doc = doc
	r.file()
	return r, nil
}

// err is what keeps the file, or a part of it, from counting.
func (r *reader) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	all := r.faults
	if r.more > 0 {
		all = append(all, document.Fault{Position: document.Position{File: r.path}, Message: fmt.Sprintf("and %d more errors", r.more)})
	}
	return &document.Faults{All: all}
}
