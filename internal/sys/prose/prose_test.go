package prose

import (
	"strings"
	"testing"
)

// last is a scanner that remembers the last object. What it is told to have begun is
// what has begun.
func last(t *testing.T, lenient bool, depth int) (s *Scanner, object func() string) {
	start, end, open := 0, 0, 0
	s = &Scanner{
		Lenient: lenient, Depth: depth,
		Enter: func() {
			if open++; open != len(s.open) {
				t.Fatalf("told of %d, has %d", open, len(s.open))
			}
		},
		GiveUp: func() { open = 0 },
		Atom:   func(string, []byte) {},
		Leave: func(from, to int, object bool) {
			open--
			if object {
				start, end = from, to
			}
		},
	}
	return s, func() string { return string(s.text[start:end]) }
}

// A long text is read in one go, whatever it is made of.
func TestScanIsLinear(t *testing.T) {
	const size, object, depth = 1 << 17, `{"completed":false,"feedback":"run the tests"}`, 100
	for _, lenient := range []bool{false, true} {
		for _, unit := range []string{
			"{", `{"`, `{"a":`, `{"a":[`, `{"a":"`, `{"\"`, `{"{`, "{\"\n", `{"a\`, `{"a"//`, "{//", "{//\n", `{"a":1,`, "[", "}", `{"completed":true,`, "{\"a\"//\n", `{"a":{`, "/", `\"{`, "```json\n{", "x",
		} {
			s, found := last(t, lenient, depth)
			s.Scan([]byte(strings.Repeat(unit, size/len(unit)) + "\n" + object))
			if most := 4 * len(s.text); s.work > most {
				t.Errorf("%q: looked at %d bytes of %d", unit, s.work, len(s.text))
			}
			if cap(s.open) > 2*depth {
				t.Errorf("%q: held %d objects open", unit, cap(s.open))
			}
			if got := found(); got != object {
				t.Errorf("%q: found %.60q", unit, got)
			}
		}
	}
}

func TestLenient(t *testing.T) {
	for _, text := range []string{`{"a":1,}`, "{// why\n\"a\":[1,],}"} {
		for _, lenient := range []bool{false, true} {
			s, found := last(t, lenient, 0)
			if s.Scan([]byte(text)); (found() == text) != lenient {
				t.Errorf("%q, lenient %t: %q", text, lenient, found())
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{`{"a":1}`, "x {\"a\":// c\n1,} }", "\ufeff", "{\"a\":true}\xff", `{"{"a":[`} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, lenient bool) {
		s, _ := last(t, lenient, 100)
		if s.Scan([]byte(text)); s.work > 4*len(text)+64 {
			t.Errorf("looked at %d bytes of %d", s.work, len(text))
		}
	})
}
