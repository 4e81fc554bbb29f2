package config

import "github.com/stopgate/stopgate/internal/project/document"

// mention is a text of a file whose meaning is looked up after the file was
// read, in other files. It keeps its place for the fault that may come of it.
type mention struct {
	text  string
	place document.Fault // without a message
}

// mentioned reads a text that is looked up later.
func mentioned(t typeOf[string]) typeOf[mention] {
	return document.Then(t, func(v value, text string) (mention, bool) {
		return mention{text: text, place: v.NewFault(v, "", "")}, true
	})
}

func (m mention) fault(message, hint string) document.Fault {
	f := m.place
	f.Message, f.Hint = message, hint
	return f
}
