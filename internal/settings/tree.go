package settings

import (
	"iter"
	"math"

	"github.com/tailscale/hujson"
)

// These look at a syntax tree without minding what is missing or of another
// type: nil in, zero out.

func kindOf(v *hujson.Value) hujson.Kind {
	if v == nil {
		return 0
	}
	return v.Value.Kind()
}

// stringOf is "" for anything but a string.
func stringOf(v *hujson.Value) string {
	if kindOf(v) != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

func numberOf(v *hujson.Value) float64 {
	if kindOf(v) != '0' {
		return math.NaN()
	}
	return v.Value.(hujson.Literal).Float()
}

func objectOf(v *hujson.Value) (*hujson.Object, bool) {
	if v == nil {
		return nil, false
	}
	o, ok := v.Value.(*hujson.Object)
	return o, ok
}

func arrayOf(v *hujson.Value) (*hujson.Array, bool) {
	if v == nil {
		return nil, false
	}
	a, ok := v.Value.(*hujson.Array)
	return a, ok
}

// member is the value of the last member of that name: of duplicates the
// client takes the last.
func member(o *hujson.Object, name string) *hujson.Value {
	if m := lastMember(o, name); m >= 0 {
		return &o.Members[m].Value
	}
	return nil
}

func lastMember(o *hujson.Object, name string) int {
	if o == nil {
		return -1
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if stringOf(&o.Members[i].Name) == name {
			return i
		}
	}
	return -1
}

// members yields each member that counts: of duplicates the last.
func members(o *hujson.Object) iter.Seq2[string, *hujson.Value] {
	return func(yield func(string, *hujson.Value) bool) {
		if o == nil {
			return
		}
		last := map[string]int{}
		for i := range o.Members {
			last[stringOf(&o.Members[i].Name)] = i
		}
		for i := range o.Members {
			name := stringOf(&o.Members[i].Name)
			if last[name] == i && !yield(name, &o.Members[i].Value) {
				return
			}
		}
	}
}

// objects yields the objects among the elements.
func objects(a *hujson.Array) iter.Seq2[int, *hujson.Object] {
	return func(yield func(int, *hujson.Object) bool) {
		if a == nil {
			return
		}
		for i := range a.Elements {
			if o, ok := objectOf(&a.Elements[i]); ok && !yield(i, o) {
				return
			}
		}
	}
}
