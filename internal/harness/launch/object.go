package launch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Object is a JSON object with its values as they are written.
type Object map[string]json.RawMessage

// onTop is the object on top of base: objects in both are put together, of anything
// else ours counts.
func (o Object) onTop(base Object) Object {
	both := maps.Clone(base)
	if both == nil {
		both = Object{}
	}
	for name, value := range o {
		inner, isObject := objectIn(value)
		if below, ok := objectIn(both[name]); ok && isObject {
			value, _ = json.Marshal(inner.onTop(below)) // what was decoded encodes
		}
		both[name] = value
	}
	return both
}

// without is the object without one of its members.
func (o Object) without(name string) Object {
	rest := maps.Clone(o)
	delete(rest, name)
	return rest
}

// read stores the value of a member, where there is one. Unlike encoding/json with a
// struct it does not take PROVIDERS for providers.
func (o Object) read(name string, to any) error {
	value, ok := o[name]
	if !ok {
		return nil
	}
	return json.Unmarshal(value, to)
}

// objectIn reads a value that is an object.
func objectIn(value json.RawMessage) (o Object, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
		return nil, false
	}
	d, err := jsonfile.Parse("", value)
	if err != nil {
		return nil, false
	}
	return objectOf(d), true
}

// objectOf are the members of a document that is an object. It is read from the tree:
// what encoding/json needs to know of Go's types is the slowest part of a launch.
func objectOf(d *jsonfile.Document) Object {
	root, _ := d.Object()
	o := Object{}
	for name, v := range jsonfile.Members(root) {
		o[name] = hujson.Value{Value: v.Value}.Pack()
	}
	return o
}

// scalarIn is the text of a string, a number or a boolean, which is what a variable
// can hold.
func scalarIn(value json.RawMessage) (text string, ok bool) {
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0 || value[0] == '{' || value[0] == '[' || value[0] == 'n':
		return "", false
	case value[0] == '"':
		return jsonfile.StringOf(&hujson.Value{Value: hujson.Literal(value)}), true
	}
	return string(value), true
}

// sorted lists the keys in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
