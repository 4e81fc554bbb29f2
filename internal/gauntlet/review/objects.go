package review

import (
	"bytes"
	"encoding/json"
)

// objects are the outermost JSON objects in a text that is mostly something
// else. Each byte is looked at no more than twice, whatever the text: trying to
// decode at every brace takes quadratic time for braces that nest.
func objects(text []byte) [][]byte {
	s := scanner{text: text, quote: -1}
	for s.pos < len(text) {
		if len(s.open) == 0 {
			next := bytes.IndexByte(text[s.pos:], '{')
			if next < 0 {
				break
			}
			s.pos += next
			s.enter('}')
		} else if !s.token() {
			s.giveUp()
		}
	}
	return s.found
}

type scanner struct {
	text  []byte
	pos   int
	open  []container // from the outermost in
	found [][]byte
	quote int // where the last string began; -1 if none since the last start
}

// container is an object or a list that has begun.
type container struct {
	end   byte // what closes it
	start int
	found int // how many objects were found before it
	want  want
}

// want is what may come next in a container.
type want int

const (
	first want = iota // a member, or the end
	member
	colon
	value
	comma // or the end
)

func (s *scanner) enter(end byte) {
	s.open = append(s.open, container{end: end, start: s.pos, found: len(s.found)})
	s.pos++
}

// leave records an object in place of those inside it.
func (s *scanner) leave() {
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.pos++
	if c.end == '}' && s.pos-c.start >= len(`{"status":"fail"}`) { // no answer is shorter
		s.found = append(s.found[:c.found], s.text[c.start:s.pos])
	}
}

// giveUp starts anew. No object that is still open can be completed, and those
// that were complete stay. What looked like a string may have been text, with
// the true beginning in it.
func (s *scanner) giveUp() {
	s.open = s.open[:0]
	if s.quote >= 0 {
		s.pos = s.quote + 1
	}
	s.quote = -1
}

// token takes the next token; false if it is not JSON there.
func (s *scanner) token() bool {
	c := &s.open[len(s.open)-1]
	switch b := s.text[s.pos]; {
	case b == ' ' || b == '\t' || b == '\r' || b == '\n':
		s.pos++
		return true
	case b == c.end:
		if c.want != first && c.want != comma {
			return false
		}
		s.leave()
		return true
	case b == ':':
		return s.separator(c, colon, value)
	case b == ',':
		return s.separator(c, comma, member)
	case b == '"':
		s.quote = s.pos
		return c.advance(true) && s.atom(quoted(s.text[s.pos:]))
	case b == '{':
		return s.nest(c, '}')
	case b == '[':
		return s.nest(c, ']')
	}
	return c.advance(false) && s.atom(bare(s.text[s.pos:]))
}

func (s *scanner) separator(c *container, from, to want) bool {
	if c.want != from {
		return false
	}
	c.want = to
	s.pos++
	return true
}

func (s *scanner) nest(c *container, end byte) bool {
	if !c.advance(false) {
		return false
	}
	s.enter(end)
	return true
}

// advance moves on past a value, or past a key where one is due.
func (c *container) advance(isString bool) bool {
	inKey := c.end == '}' && c.want <= member
	if c.want > member && c.want != value || inKey && !isString {
		return false
	}
	c.want = comma
	if inKey {
		c.want = colon
	}
	return true
}

// atom takes a string, number or word.
func (s *scanner) atom(length int) bool {
	if !json.Valid(s.text[s.pos : s.pos+length]) {
		return false
	}
	s.pos += length
	return true
}

// quoted is the length of the string at the start of text, which ends at the
// latest where no string goes on: at a line's end.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n':
			return i
		}
	}
	return len(text)
}

// bare is the length of the number or word at the start of text. None that is
// valid is long, save for numbers that no answer has.
func bare(text []byte) int {
	const longest = 64
	for i, b := range text[:min(len(text), longest)] {
		if bytes.IndexByte([]byte(" \t\r\n,:]}"), b) >= 0 {
			return i
		}
	}
	return min(len(text), longest)
}
