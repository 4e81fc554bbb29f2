package config

// mention is a text of a file whose meaning is looked up after the file was
// read, in other files. It keeps its place for the fault that may come of it.
type mention struct {
	text  string
	place Fault // without a message
}

func (v value) mention(text string) mention {
	return mention{text: text, place: v.d.newFault(v.span(), "", "")}
}

func (m mention) fault(message, hint string) Fault {
	f := m.place
	f.Message, f.Hint = message, hint
	return f
}
