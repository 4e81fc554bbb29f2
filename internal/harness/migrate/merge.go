package migrate

import (
	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// putBack takes a migration's change of a JSON file back in the text that the file has now, which another
// program has changed since: Claude Code adds permissions to its settings, for one. It goes by the members at
// the top. Where one that the migration changed is neither as before nor as after it, the two changes cannot
// be told apart, and it is not ok.
func putBack(before, after, now []byte) (text []byte, ok bool) {
	was, left, is := objectIn(before), objectIn(after), objectIn(now)
	if was == nil || left == nil || is == nil {
		return nil, false
	}
	for _, name := range memberNames(was.root, left.root) {
		old, new, current := jsonfile.Member(was.root, name), jsonfile.Member(left.root, name), jsonfile.Member(is.root, name)
		switch {
		case same(old, new), same(current, old):
		case !same(current, new):
			return nil, false
		case old == nil:
			jsonfile.CutMember(is.root, name)
		default:
			is.Set(name, nil)
			jsonfile.Member(is.root, name).Value = old.Clone().Value
		}
	}
	return is.Text(), true
}

// object is a JSON document that is an object.
type object struct {
	*jsonfile.Document
	root *hujson.Object
}

// objectIn is nil for a text that is anything else, or has a member twice: then it is open which one counts.
func objectIn(text []byte) *object {
	doc, err := jsonfile.Parse("", text)
	if err != nil || doc.NeedObject() != nil {
		return nil
	}
	root, _ := doc.Object()
	if doc.Unique(root, func(string) bool { return true }) != nil {
		return nil
	}
	return &object{doc, root}
}

// memberNames are those of the first object, and what the second has besides.
func memberNames(first, second *hujson.Object) (names []string) {
	for name := range jsonfile.Members(first) {
		names = append(names, name)
	}
	for name := range jsonfile.Members(second) {
		if jsonfile.Member(first, name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// same reports whether two members mean the same, or are both missing.
func same(a, b *hujson.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return jsonfile.Equal(a, b)
}
