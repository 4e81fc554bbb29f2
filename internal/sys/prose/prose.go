// Package prose finds JSON in what models write: answers that they talk about,
// quote, put in a fence or leave unfinished.
package prose

import (
	"bytes"
	"encoding/json"
)

// Scanner finds JSON objects in a text that is mostly something else. It looks
// at no byte more than a few times, whatever the text: trying to decode at every
// brace takes quadratic time for braces that nest.
type Scanner struct {
	Lenient bool // comments to the end of a line, and commas before an end, are taken
	Depth   int  // how deep objects may nest; 0: as deep as they like

	Enter  func()                            // an object begins, or a list in one
	Atom   func(key string, token []byte)    // a string, number or word in it, its key if it has one; may be nil
	Leave  func(start, end int, object bool) // it has ended
	GiveUp func()                            // what has begun and not ended is none

	text  []byte
	pos   int
	open  []container // from the outermost in
	quote int         // where the last string began; -1 if none since the last start
	work  int         // bytes looked at, for the test that bounds them
}

// container is an object or a list that has begun.
type container struct {
	end   byte // what closes it
	start int
	want  want
	key   string // of the value that comes next; none in a list
}

// want is what may come next in a container.
type want int

const (
	first  want = iota // a member, or the end
	member             // or, where the scanner is lenient, the end
	colon
	value
	comma // or the end
)

// Scan reads the text.
func (s *Scanner) Scan(text []byte) {
	s.text, s.pos, s.open, s.quote, s.work = text, 0, nil, -1, 0
	for s.pos < len(s.text) {
		if len(s.open) > 0 {
			if !s.token() {
				s.giveUp()
			}
			continue
		}
		next := bytes.IndexByte(s.text[s.pos:], '{')
		if next < 0 {
			return
		}
		s.take(next)
		s.enter('}')
	}
}

// take moves on.
func (s *Scanner) take(length int) {
	s.pos += length
	s.work += length
}

func (s *Scanner) enter(end byte) {
	s.open = append(s.open, container{end: end, start: s.pos})
	s.take(1)
	s.Enter()
}

func (s *Scanner) leave() {
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.take(1)
	s.Leave(c.start, s.pos, c.end == '}')
}

// giveUp starts anew. No object that is still open can be completed. What looked
// like a string may have been text, with the true beginning in it.
func (s *Scanner) giveUp() {
	s.open = s.open[:0]
	s.GiveUp()
	if s.quote >= 0 {
		s.pos = s.quote + 1
	}
	s.quote = -1
}

// token takes the next token; false if it is not JSON there.
func (s *Scanner) token() bool {
	c := &s.open[len(s.open)-1]
	switch b := s.text[s.pos]; b {
	case ' ', '\t', '\r', '\n':
		s.take(1)
		return true
	case '/':
		return s.comment()
	case c.end:
		if c.want == colon || c.want == value || c.want == member && !s.Lenient {
			return false
		}
		s.leave()
		return true
	case ':':
		return s.separator(c, colon, value)
	case ',':
		return s.separator(c, comma, member)
	case '{':
		return s.nest(c, '}')
	case '[':
		return s.nest(c, ']')
	case '"':
		s.quote = s.pos
		return s.atom(c, quoted(s.text[s.pos:]))
	}
	return s.atom(c, bare(s.text[s.pos:]))
}

// comment skips the rest of a line. What comes before it is not looked at again:
// a line of many beginnings with a comment after each would take quadratic time.
func (s *Scanner) comment() bool {
	rest := s.text[s.pos:]
	if !s.Lenient || !bytes.HasPrefix(rest, []byte("//")) {
		return false
	}
	length := bytes.IndexByte(rest, '\n')
	if length < 0 {
		length = len(rest)
	}
	s.take(length)
	s.quote = -1
	return true
}

func (s *Scanner) separator(c *container, from, to want) bool {
	if c.want != from {
		return false
	}
	c.want = to
	s.take(1)
	return true
}

func (s *Scanner) nest(c *container, end byte) bool {
	if s.Depth > 0 && len(s.open) == s.Depth || c.wantsKey() || !c.wantsValue() {
		return false
	}
	c.want = comma
	s.enter(end)
	return true
}

// wantsKey reports whether a member of an object is due, which begins with its key.
func (c *container) wantsKey() bool { return c.end == '}' && c.want <= member }

func (c *container) wantsValue() bool { return c.want <= member || c.want == value }

// atom takes a string, number or word.
func (s *Scanner) atom(c *container, length int) bool {
	token := s.text[s.pos : s.pos+length]
	s.work += length
	if !c.wantsValue() || !json.Valid(token) {
		return false
	}
	s.pos += length
	if c.wantsKey() {
		c.want = colon
		return token[0] == '"' && (s.Atom == nil || json.Unmarshal(token, &c.key) == nil)
	}
	c.want = comma
	if s.Atom != nil {
		s.Atom(c.key, token)
	}
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

// bare is the length of the number or word at the start of text; 0 if there is
// none. None that is valid is long, save for numbers that no answer has.
func bare(text []byte) int {
	const longest = 64
	text = text[:min(len(text), longest)]
	if end := bytes.IndexAny(text, " \t\r\n,:[]{}/\"\\"); end >= 0 {
		return end
	}
	return len(text)
}
