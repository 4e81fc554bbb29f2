// Package rawjson reads and writes JSON of our own making without reflection:
// encoding/json takes a tenth of a millisecond and more to learn a family of types, in
// every process anew.
//
// A reader takes what a writer writes, and gives up at anything else. Whoever gets files
// that others may have written asks encoding/json then.
package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Writer writes one value, indented as people like it. The zero value is ready.
type Writer struct {
	Text   []byte
	indent int
	full   bool // the object or array has something in it
}

// Object writes an object, whose members are written by members.
func (w *Writer) Object(members func()) { w.group('{', members, '}') }

// Array writes an array, each of whose elements is written after a call of Element.
func (w *Writer) Array(elements func()) { w.group('[', elements, ']') }

func (w *Writer) group(open byte, inside func(), end byte) {
	w.Text = append(w.Text, open)
	w.indent++
	w.full = false
	inside()
	w.indent--
	if w.full {
		w.line()
	}
	w.Text = append(w.Text, end)
	w.full = true
}

// Element begins an element of an array.
func (w *Writer) Element() {
	if w.full {
		w.Text = append(w.Text, ',')
	}
	w.full = true
	w.line()
}

func (w *Writer) line() {
	w.Text = append(w.Text, '\n')
	for range w.indent {
		w.Text = append(w.Text, ' ', ' ')
	}
}

// Name begins a member of an object. The name must need no escape.
func (w *Writer) Name(name string) {
	w.Element()
	w.Text = append(w.Text, '"')
	w.Text = append(w.Text, name...)
	w.Text = append(w.Text, `": `...)
}

// String writes a string.
func (w *Writer) String(s string) {
	start := len(w.Text)
	w.Text = append(w.Text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.Text = append(w.Text, '\\', c)
		case c == '\n':
			w.Text = append(w.Text, '\\', 'n')
		case c == '\t':
			w.Text = append(w.Text, '\\', 't')
		case c < ' ' || c == 0x7f || c >= utf8.RuneSelf:
			w.Text = append(w.Text[:start], standard(s)...)
			return
		default:
			w.Text = append(w.Text, c)
		}
	}
	w.Text = append(w.Text, '"')
}

// standard is a string as encoding/json writes it for people.
func standard(s string) []byte {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings always encode
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// Int writes a number.
func (w *Writer) Int(n int) { w.Text = strconv.AppendInt(w.Text, int64(n), 10) }

// Null writes null.
func (w *Writer) Null() { w.Text = append(w.Text, "null"...) }

// Reader reads one value. Once something is not as expected, all that it gives is empty.
type Reader struct {
	rest string
	full bool // something of the object or array was read
	odd  bool // something was not as expected
}

// NewReader reads a text.
func NewReader(text []byte) *Reader { return &Reader{rest: string(text)} }

// Done reports whether the whole text was as expected.
func (r *Reader) Done() bool { return !r.odd && strings.Trim(r.rest, space) == "" }

// GiveUp says that a value was not as expected.
func (r *Reader) GiveUp() { r.odd, r.rest = true, "" }

const space = " \t\r\n" // the white space of JSON, no other

func (r *Reader) skip() { r.rest = strings.TrimLeft(r.rest, space) }

// take takes what comes next, if it is that.
func (r *Reader) take(text string) bool {
	r.skip()
	rest, ok := strings.CutPrefix(r.rest, text)
	if ok {
		r.rest = rest
	}
	return ok
}

func (r *Reader) expect(text string) {
	if !r.take(text) {
		r.GiveUp()
	}
}

// Object reads an object, whose members are read by members: all of them, and in the
// order in which they were written.
func (r *Reader) Object(members func()) {
	r.expect("{")
	r.full = false
	members()
	r.expect("}")
	r.full = true
}

// Has reports whether the next member has that name. Then its value is to be read.
func (r *Reader) Has(name string) bool {
	before := r.rest
	if r.full && !r.take(",") || !r.take(`"`+name+`"`) {
		r.rest = before
		return false
	}
	r.expect(":")
	r.full = true
	return !r.odd
}

// Array reads an array, each of whose elements is read by element.
func (r *Reader) Array(element func()) {
	r.expect("[")
	for first := true; !r.odd && !r.take("]"); first = false {
		if !first {
			r.expect(",")
		}
		element()
	}
	r.full = true
}

// Null reads null, if that comes next.
func (r *Reader) Null() bool { return r.take("null") }

// Int reads a number.
func (r *Reader) Int() int {
	r.skip()
	end := strings.IndexFunc(r.rest, func(c rune) bool { return c != '-' && (c < '0' || c > '9') })
	if end < 0 {
		end = len(r.rest)
	}
	digits := r.rest[:end]
	n, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(n) != digits { // such as 007
		r.GiveUp()
		return 0
	}
	r.rest = r.rest[end:]
	return n
}

// String reads a string.
func (r *Reader) String() string {
	if !r.take(`"`) {
		r.GiveUp()
		return ""
	}
	end := strings.IndexByte(r.rest, '"')
	if end >= 0 && isPlain(r.rest[:end]) {
		s := r.rest[:end]
		r.rest = r.rest[end+1:]
		return s
	}
	return r.escaped()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// escaped reads the rest of a string that is not plain.
func (r *Reader) escaped() string {
	var s strings.Builder
	for i := 0; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '"':
			r.rest = r.rest[i+1:]
			if !utf8.ValidString(s.String()) {
				r.GiveUp()
			}
			return s.String()
		case c < ' ':
			r.GiveUp()
			return ""
		case c != '\\':
			s.WriteByte(c)
			continue
		}
		i++
		plain, ok := unescape(r.rest[i:])
		if !ok {
			break
		}
		s.WriteByte(plain)
	}
	r.GiveUp()
	return ""
}

// unescape is the character that stands behind a backslash. Those that are rare are
// left to others.
func unescape(rest string) (c byte, ok bool) {
	if rest == "" {
		return 0, false
	}
	switch rest[0] {
	case '"', '\\':
		return rest[0], true
	case 'n':
		return '\n', true
	case 't':
		return '\t', true
	}
	return 0, false
}
