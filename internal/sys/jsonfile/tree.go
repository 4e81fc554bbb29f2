package jsonfile

import (
	"iter"
	"math"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// These look at a syntax tree without minding what is missing or of another
// type: nil in, zero out.

// KindOf is 0 for nothing.
func KindOf(v *hujson.Value) hujson.Kind {
	if v == nil {
		return 0
	}
	return v.Value.Kind()
}

// StringOf is "" for anything but a string.
func StringOf(v *hujson.Value) string {
	if KindOf(v) != '"' {
		return ""
	}
	literal := v.Value.(hujson.Literal)
	if isPlain(literal) {
		return string(literal[1 : len(literal)-1])
	}
	return literal.String()
}

// isPlain reports whether a string stands between its quotes as it is. Most do, and
// decoding each name of a file would be most of the work on it.
func isPlain(literal hujson.Literal) bool {
	for _, c := range literal {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// NumberOf is NaN for anything but a number.
func NumberOf(v *hujson.Value) float64 {
	if KindOf(v) != '0' {
		return math.NaN()
	}
	return v.Value.(hujson.Literal).Float()
}

// ObjectOf is the object that v is.
func ObjectOf(v *hujson.Value) (*hujson.Object, bool) {
	if v == nil {
		return nil, false
	}
	o, ok := v.Value.(*hujson.Object)
	return o, ok
}

// ArrayOf is the array that v is.
func ArrayOf(v *hujson.Value) (*hujson.Array, bool) {
	if v == nil {
		return nil, false
	}
	a, ok := v.Value.(*hujson.Array)
	return a, ok
}

// Member is the value of the last member of that name: of duplicates the
// last counts, for Claude Code as for encoding/json.
func Member(o *hujson.Object, name string) *hujson.Value {
	if m := lastMember(o, name); m >= 0 {
		return &o.Members[m].Value
	}
	return nil
}

// At follows the names from v on.
func At(v *hujson.Value, path ...string) *hujson.Value {
	for _, name := range path {
		o, _ := ObjectOf(v)
		v = Member(o, name)
	}
	return v
}

func lastMember(o *hujson.Object, name string) int {
	if o == nil {
		return -1
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if StringOf(&o.Members[i].Name) == name {
			return i
		}
	}
	return -1
}

// Members yields each member that counts: of duplicates the last.
func Members(o *hujson.Object) iter.Seq2[string, *hujson.Value] {
	return func(yield func(string, *hujson.Value) bool) {
		if o == nil {
			return
		}
		last := map[string]int{}
		for i := range o.Members {
			last[StringOf(&o.Members[i].Name)] = i
		}
		for i := range o.Members {
			name := StringOf(&o.Members[i].Name)
			if last[name] == i && !yield(name, &o.Members[i].Value) {
				return
			}
		}
	}
}

// Objects yields the objects among the elements.
func Objects(a *hujson.Array) iter.Seq2[int, *hujson.Object] {
	return func(yield func(int, *hujson.Object) bool) {
		if a == nil {
			return
		}
		for i := range a.Elements {
			if o, ok := ObjectOf(&a.Elements[i]); ok && !yield(i, o) {
				return
			}
		}
	}
}
