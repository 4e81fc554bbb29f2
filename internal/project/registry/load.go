package registry

import (
	"errors"
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
	return registry, r.Err()
}

// read reads the file. That there is none is no error.
func read(path string, strict bool) (*reader, error) {
	doc, err := jsonfile.Read(path)
	r := newReader(path, doc, strict)
	var refusal *jsonfile.Refusal
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case errors.As(err, &refusal):
		r.Fault(document.Span{Line: refusal.Line, Column: refusal.Column}, refusal.Why, "no agent is woken until this is fixed")
		return nil, r.Err()
	case err != nil:
		return nil, err
	}
	r.file()
	return r, nil
}
