// Package commandline reads the command lines of a shell, quickly enough for a hook: the commands in a line, and
// which of their words only start another command. A full grammar belongs to stopgated.
package commandline

import "strings"

// Command is one simple command of a line: its words as a shell reads them, without quotes, redirections and
// the reserved words before it.
type Command struct {
	Words []string
	Input string // what the line itself gives it to read
}

// maxDepth is how deep substitutions are followed. Each level takes a kilobyte of the stack, and a line can
// have millions.
const maxDepth = 1000

// maxLevels is how deep here-documents in here-documents are followed.
const maxLevels = 8

// reader takes a command line apart. It is not a shell: it expands nothing, and for a substitution it takes
// the last word in it, as of $(which git) or $(echo --force).
type reader struct {
	text  string
	at    int
	depth int
	level int  // of here-documents in here-documents
	ticks bool // a backquote is open
	found []*Command
	docs  []document // begun in this line
	vague bool       // the words may be others, or more
}

// document is a here-document.
type document struct {
	of     *Command
	end    string
	quoted bool // nothing in it is expanded
	tabs   bool // those before a line do not count
}

// Read finds the simple commands of a line, in the order in which they end. Clear means that they and their words
// are all there is: no substitution, no here-document, no list in braces, and no quote without an end.
func Read(line string) (commands []*Command, clear bool) {
	r := &reader{text: line}
	for r.at < len(r.text) {
		r.list(0)
	}
	return r.found, !r.vague
}

// list reads commands up to the character that ends a substitution; 0 is the end of the text. It returns the
// last word.
func (r *reader) list(end byte) (last string) {
	c, cases := &Command{}, 0
	next := func() {
		if len(c.Words) > 0 {
			last = c.Words[len(c.Words)-1]
			r.found = append(r.found, c)
		}
		c = &Command{}
	}

	for r.at < len(r.text) {
		b := r.text[r.at]
		switch {
		case b == end && (b != ')' || cases == 0):
			r.at++
			next()
			return last
		case b == ' ' || b == '\t' || b == '\r':
			r.at++
		case b == '\\' && r.next(1) == '\n':
			r.at += 2
		case b == '\n':
			r.at++
			next()
			r.documents()
		case b == '(':
			next()
			r.brackets()
		case b == '<' || b == '>' || b == '&' && r.next(1) == '>':
			r.redirection(c)
		case strings.IndexByte(";|&)", b) >= 0:
			r.at++
			next()
		case b == '#':
			r.comment()
		default:
			from := r.at
			word, quoted := r.word()
			if r.at == from { // a character that belongs to none
				r.at++
				continue
			}
			if !quoted && r.isDescriptor(word) {
				continue
			}
			if !quoted && len(c.Words) == 0 {
				cases = max(0, cases+caseDepth(word))
				if reserved(word) {
					continue
				}
			}
			c.Words = append(c.Words, word)
		}
	}
	next()
	return last
}

// next is a character that follows; 0 at the end.
func (r *reader) next(n int) byte {
	if r.at+n < len(r.text) {
		return r.text[r.at+n]
	}
	return 0
}

// caseDepth says whether a word begins or ends a case, in which a bracket ends a pattern.
func caseDepth(word string) int {
	switch word {
	case "case":
		return 1
	case "esac":
		return -1
	}
	return 0
}

// reserved reports whether a word is one of the shell's own that a command can follow.
func reserved(word string) bool {
	switch word {
	case "if", "elif", "then", "else", "while", "until", "do", "!", "{", "}":
		return true
	}
	return false
}

// isDescriptor reports whether a word is the number of what is redirected.
func (r *reader) isDescriptor(word string) bool {
	b := r.next(0)
	return (b == '<' || b == '>') && strings.Trim(word, "0123456789") == ""
}

func (r *reader) comment() {
	if n := strings.IndexByte(r.text[r.at:], '\n'); n >= 0 {
		r.at += n
		return
	}
	r.at = len(r.text)
}

// brackets reads what stands in round ones: commands, or arithmetic, which has none.
func (r *reader) brackets() {
	if r.arithmetic() {
		return
	}
	r.at++
	r.nested(')')
}

// arithmetic skips ((…)).
func (r *reader) arithmetic() bool {
	if !strings.HasPrefix(r.text[r.at:], "((") {
		return false
	}
	n := strings.Index(r.text[r.at:], "))")
	if n < 0 {
		return false
	}
	r.vague = true // there may be a substitution in it
	r.at += n + 2
	return true
}

// substitution reads the commands of one, whose beginning is read.
func (r *reader) substitution(end byte) (last string) {
	r.vague = true
	return r.nested(end)
}

// nested reads commands up to the character that ends them.
func (r *reader) nested(end byte) (last string) {
	if r.depth == maxDepth {
		r.vague = true
		return "" // the rest is read as if it were not nested
	}
	ticks := r.ticks
	r.ticks = end == '`'
	r.depth++
	last = r.list(end)
	r.depth--
	r.ticks = ticks
	return last
}

// redirection reads one with what it names. What a here-document or a here-string holds is the command's input.
func (r *reader) redirection(c *Command) {
	rest := r.text[r.at:]
	r.vague = r.vague || strings.HasPrefix(rest, "<<")
	switch {
	case strings.HasPrefix(rest, "<<<"):
		r.at += 3
		r.blanks()
		c.Input, _ = r.word()
		return
	case strings.HasPrefix(rest, "<<"):
		r.at += 2
		tabs := r.next(0) == '-'
		if tabs {
			r.at++
		}
		r.blanks()
		end, quoted := r.word()
		r.docs = append(r.docs, document{c, end, quoted, tabs})
		return
	}

	for strings.IndexByte("<>&|", r.next(0)) >= 0 && r.at < len(r.text) {
		r.at++
	}
	if r.next(0) == '(' {
		r.at++
		r.substitution(')')
		return
	}
	r.blanks()
	r.word()
}

func (r *reader) blanks() {
	for r.next(0) == ' ' || r.next(0) == '\t' {
		r.at++
	}
}

// documents reads the here-documents that begin at this line.
func (r *reader) documents() {
	docs := r.docs
	r.docs = nil
	for _, d := range docs {
		d.of.Input = r.document(d)
		if !d.quoted && r.level < maxLevels { // each level is read once more
			inner := reader{text: d.of.Input, level: r.level + 1}
			inner.expansions()
			r.found = append(r.found, inner.found...)
		}
	}
}

// document is the text of a here-document. It ends with a line of its own, or with what ends the substitution.
func (r *reader) document(d document) string {
	from := r.at
	for r.at < len(r.text) {
		start := r.at
		line, _, _ := strings.Cut(r.text[start:], "\n")
		r.at = min(len(r.text), start+len(line)+1)
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimSuffix(line, "\r") == d.end {
			return r.text[from:start]
		}
		if r.depth > 0 && strings.HasPrefix(line, d.end+")") {
			r.at = start + strings.Index(r.text[start:], d.end) + len(d.end)
			return r.text[from:start]
		}
	}
	return r.text[from:]
}

// expansions reads the substitutions in a text that is none of commands.
func (r *reader) expansions() {
	var ignored strings.Builder
	for r.at < len(r.text) {
		if !r.expansion(&ignored, false) {
			r.at++
		}
	}
}

// word reads one word without its quotes.
func (r *reader) word() (word string, quoted bool) {
	var b strings.Builder
	braces := false
	for r.at < len(r.text) {
		c := r.text[r.at]
		switch {
		case strings.IndexByte(" \t\r\n;|&()<>", c) >= 0, c == '`' && r.ticks:
			return b.String(), quoted
		case c == '\'':
			quoted = true
			r.single(&b)
		case c == '"':
			quoted = true
			r.double(&b)
		case c == '\\':
			quoted = true
			r.expansion(&b, false)
		case r.expansion(&b, false):
		default:
			braces = braces || c == '{'
			r.vague = r.vague || braces && (c == ',' || c == '.' && r.next(1) == '.') // {a,b} and {1..3} are several words
			b.WriteByte(c)
			r.at++
		}
	}
	return b.String(), quoted
}

// single reads text in single quotes.
func (r *reader) single(b *strings.Builder) {
	text, _, closed := strings.Cut(r.text[r.at+1:], "'")
	b.WriteString(text)
	r.at += 1 + len(text)
	if !closed {
		r.vague = true
		return
	}
	r.at++
}

// double reads text in double quotes.
func (r *reader) double(b *strings.Builder) {
	for r.at++; r.at < len(r.text); {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return
		case r.expansion(b, true):
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	r.vague = true
}

// expansion reads what means something in double quotes, too: an escaped character, a substitution, a
// parameter. It reports whether there is one.
func (r *reader) expansion(b *strings.Builder, inQuotes bool) bool {
	switch r.text[r.at] {
	case '\\':
		switch escaped := r.next(1); {
		case r.at+1 == len(r.text), escaped == '\n':
		case inQuotes && strings.IndexByte("$`\"\\", escaped) < 0:
			b.WriteByte('\\')
			b.WriteByte(escaped)
		default:
			b.WriteByte(escaped)
		}
		r.at = min(len(r.text), r.at+2)
		return true
	case '`':
		if r.ticks {
			return false
		}
		r.at++
		b.WriteString(r.substitution('`'))
		return true
	case '$':
		r.at++
		r.dollar(b, inQuotes)
		return true
	}
	return false
}

// dollar reads what follows a dollar sign.
func (r *reader) dollar(b *strings.Builder, inQuotes bool) {
	switch c := r.next(0); {
	case c == '(' && r.arithmetic():
		b.WriteString("0")
	case c == '(':
		r.at++
		b.WriteString(r.substitution(')'))
	case c == '{' && r.depth < maxDepth:
		r.depth++
		r.braces(b)
		r.depth--
	case c == '\'' && !inQuotes:
		r.escapes(b)
	case c == '"' && !inQuotes: // a text to be translated
	default:
		b.WriteByte('$')
	}
}

// braces reads a parameter in curly ones.
func (r *reader) braces(b *strings.Builder) {
	b.WriteString("$")
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '}':
			b.WriteByte(c)
			r.at++
			return
		case c == '\'':
			r.single(b)
		case c == '"':
			r.double(b)
		case r.expansion(b, false):
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	r.vague = true
}

// escapes reads $'…', in which a backslash hides a quote.
func (r *reader) escapes(b *strings.Builder) {
	r.vague = true
	for r.at++; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if c == '\'' {
			r.at++
			return
		}
		if c == '\\' && r.at+1 < len(r.text) {
			r.at++
			c = r.text[r.at]
		}
		b.WriteByte(c)
	}
}
