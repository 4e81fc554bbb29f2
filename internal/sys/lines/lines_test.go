package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func all(t *testing.T, in io.Reader, most int64) (lines []Line, err error) {
	t.Helper()
	for r := NewReader(in, most); ; {
		line, err := r.Next()
		if line.Length == 0 {
			return lines, err
		}
		line.Text = []byte(string(line.Text))
		lines = append(lines, line)
		if err != nil {
			return lines, err
		}
	}
}

func TestNext(t *testing.T) {
	long := strings.Repeat("x", 100_000) // more than the reader's buffer
	got, err := all(t, strings.NewReader("a\n\n"+long+"\nbc\nd"), 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []Line{
		{[]byte("a\n"), 2, true, false},
		{[]byte("\n"), 1, true, false},
		{nil, 100_001, true, true},
		{[]byte("bc\n"), 3, true, false},
		{[]byte("d"), 1, false, false},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines", len(got))
	}
	for i, line := range want {
		if g := got[i]; string(g.Text) != string(line.Text) || g.Length != line.Length || g.Whole != line.Whole || g.TooLong != line.TooLong {
			t.Errorf("line %d: %+v", i, g)
		}
	}
}

func TestNextFails(t *testing.T) {
	broken := errors.New("broken")
	got, err := all(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 100)
	if !errors.Is(err, broken) || len(got) != 2 || string(got[1].Text) != "b" || got[1].Whole {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNoByteIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ab\n]{0,40}`).Draw(rt, "text")
		lines, err := all(t, strings.NewReader(text), rapid.Int64Range(1, 50).Draw(rt, "most"))
		length, kept := int64(0), ""
		for _, line := range lines {
			length += line.Length
			if kept += string(line.Text); line.TooLong != (len(line.Text) == 0) {
				rt.Fatalf("%+v", line)
			}
		}
		if err != nil || length != int64(len(text)) || len(kept) == len(text) && kept != text {
			rt.Fatalf("%q, %v", kept, err)
		}
	})
}
