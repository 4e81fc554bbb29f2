package jsonfile

import (
	"slices"

	"github.com/tailscale/hujson"
)

// CutMember removes every member of that name.
func CutMember(o *hujson.Object, name string) {
	for i := lastMember(o, name); i >= 0; i = lastMember(o, name) {
		o.Members = cut(o.Members, i,
			func(m *hujson.ObjectMember) *hujson.Value { return &m.Name },
			func(m *hujson.ObjectMember) *hujson.Value { return &m.Value })
	}
	if len(o.Members) == 0 {
		o.AfterExtra = nil
	}
}

// CutElements removes the elements that are unwanted.
func CutElements(a *hujson.Array, unwanted func(*hujson.Value) bool) {
	self := func(v *hujson.Value) *hujson.Value { return v }
	for i := len(a.Elements) - 1; i >= 0; i-- {
		if unwanted(&a.Elements[i]) {
			a.Elements = cut(a.Elements, i, self, self)
		}
	}
	if len(a.Elements) == 0 {
		a.AfterExtra = nil
	}
}

// cut removes an item. A new first item takes the white space of the old one;
// hujson writes a trailing comma when the last item has white space after it,
// so a new last item must have none.
func cut[E any](items []E, i int, head, tail func(*E) *hujson.Value) []E {
	before := head(&items[i]).BeforeExtra
	items = slices.Delete(items, i, i+1)
	if i == 0 && len(items) > 0 {
		head(&items[0]).BeforeExtra = before
	}
	if i == len(items) && i > 0 {
		tail(&items[i-1]).AfterExtra = nil
	}
	return items
}
