package supervisor

import (
	"bytes"
	"encoding/json"
)

// verdict is a JSON object that says whether the work is done.
type verdict struct {
	allow      bool
	feedback   []byte // a JSON string, number or word; nil: none
	start, end int
}

// wholeVerdict is the verdict that all of the text is.
func wholeVerdict(text []byte) (verdict, bool) {
	v, ok := lastVerdict(text)
	return v, ok && v.start == 0 && v.end == len(text)
}

// lastVerdict is the last object in a text that has a member completed or
// allow_stop which is true or false. Of objects in one another the outermost
// that has one counts. Comments to the end of a line and commas before an end are
// taken, since models write them.
func lastVerdict(text []byte) (verdict, bool) {
	s := scanner{text: text, quote: -1}
	s.scan()
	return s.last, s.last.end > 0
}

// maxDepth is far more than an answer nests.
const maxDepth = 100

// scanner finds JSON objects in a text that is mostly something else. It looks
// at no byte more than a few times, whatever the text: trying to decode at every
// brace takes quadratic time for braces that nest.
type scanner struct {
	text  []byte
	pos   int
	open  []container // from the outermost in
	quote int         // where the last string began; -1 if none since the last start
	last  verdict
	work  int // bytes looked at, for the test that bounds them
}

// container is an object or a list that has begun.
type container struct {
	end   byte // what closes it
	start int
	want  want
	key   string // of the value that comes next; none in a list

	said, refused bool // by completed or allow_stop
	feedback      []byte
}

// want is what may come next in a container.
type want int

const (
	first  want = iota // a member, or the end
	member             // or the end
	colon
	value
	comma // or the end
)

func (s *scanner) scan() {
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
func (s *scanner) take(length int) {
	s.pos += length
	s.work += length
}

func (s *scanner) enter(end byte) {
	s.open = append(s.open, container{end: end, start: s.pos})
	s.take(1)
}

// leave ends a container. What ends later is further out or further back, and
// counts instead.
func (s *scanner) leave() {
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.take(1)
	if c.said {
		s.last = verdict{allow: !c.refused, feedback: c.feedback, start: c.start, end: s.pos}
	}
}

// giveUp starts anew. No object that is still open can be completed. What looked
// like a string may have been text, with the true beginning in it.
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
	switch b := s.text[s.pos]; b {
	case ' ', '\t', '\r', '\n':
		s.take(1)
		return true
	case '/':
		return s.comment()
	case c.end:
		if c.want == colon || c.want == value {
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
func (s *scanner) comment() bool {
	rest := s.text[s.pos:]
	if !bytes.HasPrefix(rest, []byte("//")) {
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

func (s *scanner) separator(c *container, from, to want) bool {
	if c.want != from {
		return false
	}
	c.want = to
	s.take(1)
	return true
}

func (s *scanner) nest(c *container, end byte) bool {
	if len(s.open) == maxDepth || c.wantsKey() || !c.wantsValue() {
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
func (s *scanner) atom(c *container, length int) bool {
	token := s.text[s.pos : s.pos+length]
	s.work += length
	if !c.wantsValue() || !json.Valid(token) {
		return false
	}
	s.pos += length
	if c.wantsKey() {
		c.want = colon
		return token[0] == '"' && json.Unmarshal(token, &c.key) == nil
	}
	c.want = comma
	c.note(token)
	return true
}

// note keeps a value that is a part of a verdict. Of two that contradict each
// other the one that refuses counts.
func (c *container) note(token []byte) {
	switch c.key {
	case "completed", "allow_stop":
		yes, no := string(token) == "true", string(token) == "false"
		c.said = c.said || yes || no
		c.refused = c.refused || no
	case "feedback":
		c.feedback = token
	}
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
