package config

import "strings"

const fence = "---"

// decodeMarkdown reads a text that may have YAML between two --- lines at its
// start. Positions are those of the whole file.
func decodeMarkdown(name string, data []byte, read func(front value, body string)) error {
	whole := newDecoder(newSource(name, data))
	if !whole.checkText() {
		return whole.Err()
	}
	front, body, ok := cutFrontMatter(whole.Text)
	if !ok {
		whole.Fault(whole.SpanAt(0, len(fence)), "the front matter has no end", "put a line with --- below it")
		return whole.Err()
	}
	return decode(newSource(name, []byte(front)), func(v value) { read(v, body) })
}

// cutFrontMatter keeps the first --- with the front matter: to YAML it is the
// start of a document, and the lines below keep their numbers.
func cutFrontMatter(text string) (front, body string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if !isFence(first) {
		return "", text, true
	}
	end := len(text) - len(rest)
	for line := range strings.Lines(rest) {
		if isFence(line) {
			return text[:end], text[end+len(line):], true
		}
		end += len(line)
	}
	return "", "", false
}

func isFence(line string) bool { return strings.TrimRight(line, " \t\n") == fence }
