package registry

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// reader decodes the file and collects what is wrong with it. It goes through the
// members of an object once, because every hook does this. It is no document.Value, which is strict:
// what older tools wrote here may be unknown, null or there twice.
type reader struct {
	*document.Source
	doc    *jsonfile.Document
	strict bool // mind also what does no harm to the rest, for whoever asks for it
	at     int  // the entry that is being read
	parsed []parsed
	unread bool // there is no list of entries that could be read
}

// newReader reads a document. Faults show nothing of it: a secret may be where it does not belong.
func newReader(path string, doc *jsonfile.Document, strict bool) *reader {
	source := document.NewSource(path, nil, document.Dialect{})
	source.Private = 1
	return &reader{Source: source, doc: doc, strict: strict, at: whole}
}

// whole stands for the file, outside of all entries.
const whole = -1

// parsed is an entry and where it stands.
type parsed struct {
	entry
	node    *hujson.Value
	at      int
	gateway *hujson.Object // may be nil
}

// spot is a value where it stands.
type spot struct {
	doc   *jsonfile.Document
	value *hujson.Value
}

// Span implements document.Place.
func (s spot) Span() document.Span {
	line, column := s.doc.Position(s.value)
	return document.Span{Line: line, Column: column, Width: 1}
}

// fault notes that v is wrong, which stands at that path of the entry.
func (r *reader) fault(v *hujson.Value, path, text, hint string) {
	r.Fault(spot{r.doc, v}, r.called(path)+" "+text, hint)
}

func (r *reader) warn(v *hujson.Value, path, text, hint string) {
	r.Warn(spot{r.doc, v}, r.called(path)+" "+text, hint)
}

// called is what messages call a path of the entry that is being read.
func (r *reader) called(path string) string {
	if r.at == whole {
		return path
	}
	return strings.TrimSuffix(fmt.Sprintf("agents[%d].%s", r.at, path), ".")
}

// member is a name that an object may have.
type member struct {
	name       string
	transports []string // that it is for; nil for all
	read       func(v *hujson.Value, path string)
}

func into[T any](to *T, read func(*hujson.Value, string) T) func(*hujson.Value, string) {
	return func(v *hujson.Value, path string) { *to = read(v, path) }
}

func names(members []member) []string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	return names
}

// read reads the members of an object that are known.
func (r *reader) read(o *hujson.Object, prefix string, known []member) {
	for i := range o.Members {
		name := jsonfile.StringOf(&o.Members[i].Name)
		for _, m := range known {
			if m.name == name {
				m.read(&o.Members[i].Value, prefix+name)
			}
		}
	}
}

// slips finds names that are there twice or that nobody knows. Unknown ones are no
// fault of the file, since older tools have more of them, but perhaps meant as another.
func (r *reader) slips(o *hujson.Object, prefix string, names, older []string) {
	if !r.strict {
		return
	}
	seen := map[string]bool{}
	for i := range o.Members {
		v := &o.Members[i].Name
		name := jsonfile.StringOf(v)
		if seen[name] {
			r.fault(v, prefix+name, "is a duplicate", "the last one is used: remove the others")
		}
		seen[name] = true
		if !slices.Contains(names, name) && !slices.Contains(older, name) {
			r.unknown(v, prefix, name, names)
		}
	}
}

func (r *reader) unknown(v *hujson.Value, prefix, name string, names []string) {
	switch hint := document.Hint(name, names, ""); {
	case name == "token" || name == "secret":
		r.fault(v, prefix+name, "does not belong in this file, which others can read",
			"keep it in a variable or a file, and name that in gateway."+name+"_env or gateway."+name+"_file")
	case hint != "":
		r.fault(v, prefix+name, "is unknown", hint)
	default:
		r.warn(v, prefix+name, "is unknown and has no effect", "")
	}
}

// text wants a string. null is as good as nothing.
func (r *reader) text(v *hujson.Value, path string) string {
	text := jsonfile.StringOf(v)
	switch kind := jsonfile.KindOf(v); {
	case kind == 'n':
	case kind != '"':
		r.fault(v, path, jsonfile.MustBe("a string", v), "")
	case strings.ContainsRune(text, 0):
		r.fault(v, path, "must not contain a NUL character", "")
		return ""
	}
	return text
}

// word wants a string that can be an argument of its own: no flag, and one line.
func (r *reader) word(v *hujson.Value, path string) string {
	text := r.text(v, path)
	switch {
	case strings.HasPrefix(text, "-"):
		r.fault(v, path, "must not begin with -", "")
		return ""
	case strings.ContainsFunc(text, unicode.IsControl):
		r.fault(v, path, "must not contain control characters", "")
		return ""
	}
	return text
}

func (r *reader) boolean(v *hujson.Value, path string) bool {
	kind := jsonfile.KindOf(v)
	if kind != 't' && kind != 'f' {
		r.fault(v, path, jsonfile.MustBe("a boolean", v), "")
	}
	return kind == 't'
}

// texts wants a list of strings and gives those that are. It is never nil.
func (r *reader) texts(v *hujson.Value, path string) []string {
	list := []string{}
	a, ok := jsonfile.ArrayOf(v)
	if !ok {
		r.fault(v, path, jsonfile.MustBe("an array of strings", v), "")
		return list
	}
	for i := range a.Elements {
		element := &a.Elements[i]
		if jsonfile.KindOf(element) != '"' {
			r.fault(element, fmt.Sprintf("%s[%d]", path, i), jsonfile.MustBe("a string", element), "")
			continue
		}
		list = append(list, jsonfile.StringOf(element))
	}
	return list
}

// oneOf wants one of these words.
func (r *reader) oneOf(v *hujson.Value, path string, words ...string) string {
	text := jsonfile.StringOf(v)
	switch {
	case jsonfile.KindOf(v) != '"':
		r.fault(v, path, jsonfile.MustBe("a string", v), "")
	case !slices.Contains(words, text):
		r.fault(v, path, fmt.Sprintf("must be one of %s, is %q", strings.Join(words, ", "), text), document.Hint(text, words, ""))
	}
	return text
}
