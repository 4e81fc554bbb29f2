package config

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/project/document"
)

// contents lists every value of the text with the keys that lead to it, except for the key at a position and
// what is under it. Texts with the same contents mean the same.
func (f OlderFile) contents(text []byte, except document.Position) ([]string, error) {
	c := &contents{except: except}
	var err error
	if f.markdown() {
		err = decodeMarkdown(f.Shown, text, func(v value, body string) {
			c.add("", v)
			c.all = append(c.all, body)
		})
	} else {
		err = decode(newSource(f.Shown, text), func(v value) { c.add("", v) })
	}
	return c.all, err
}

type contents struct {
	except document.Position
	all    []string
}

// add lists a value and those in it. Empty mappings and lists count as nothing, as they do to all that reads
// them.
func (c *contents) add(path string, v value) {
	switch kind := v.Node.Kind(); kind {
	case document.Mapping:
		c.all = append(c.all, path)
		entries, _ := v.Entries()
		for _, entry := range entries {
			if !c.excepted(entry) {
				c.add(fmt.Sprintf("%s.%q", path, entry.Name), entry)
			}
		}
	case document.List:
		c.all = append(c.all, path)
		items, _ := v.List("")
		for i, item := range items {
			c.add(fmt.Sprintf("%s[%d]", path, i), item)
		}
	case document.Null, document.Broken:
		c.all = append(c.all, path)
	default:
		c.all = append(c.all, fmt.Sprintf("%s=%d %s", path, kind, v.Node.Text()))
	}
}

// excepted reports whether the position is that of a key or, as faults of values have it, of its value.
// A mapping is not looked at: it begins where its first key does.
func (c *contents) excepted(entry value) bool {
	return entry.Source.Position(entry.Key) == c.except ||
		entry.Node.Kind() != document.Mapping && entry.Position() == c.except
}
