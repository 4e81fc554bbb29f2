package settings

// Found is a hook in a settings file, and the line on which it begins.
type Found struct {
	Entry
	At int
}

// Without takes the hooks of another tool out of the text of a settings file, with the groups and events
// that are empty then. Hooks of ours stay, whatever theirs says, and so does everything else. The name is
// for errors.
func Without(name string, text []byte, theirs func(Entry) bool) (after []byte, gone []Found, err error) {
	e, err := newEdit(name, text, nil)
	if err != nil {
		return nil, nil, err
	}
	places := e.find(func(entry Entry) bool { return !entry.ours() && theirs(entry) })
	if len(places) == 0 {
		return text, nil, nil
	}
	for _, p := range places {
		gone = append(gone, Found{p.entry, e.lineOf(p)})
	}
	for _, p := range places {
		p.remove()
	}
	e.tidy(func(...string) bool { return false })
	return e.Text(), gone, nil
}

func (d document) lineOf(p place) int {
	for i := range p.hooks.Elements {
		if v := &p.hooks.Elements[i]; v.Value == p.hook {
			return d.LineOf(v)
		}
	}
	return 1
}
