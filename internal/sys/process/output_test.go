package process

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", maxTail)
	tests := []struct {
		name  string
		lines int
		in    string
		want  string
	}{
		{"nothing", 3, "", ""},
		{"only white space", 3, " \n\t\r\n", ""},
		{"fewer lines", 3, "a\nb\n", "a\nb"},
		{"exactly as many", 3, "a\nb\nc\n", "a\nb\nc"},
		{"one more", 3, "a\nb\nc\nd\n", "[…]\nb\nc\nd"},
		{"without last newline", 2, "a\nb\nc", "[…]\nb\nc"},
		{"empty first line", 1, "\na\n", "[…]\na"},
		{"empty lines count", 3, "a\n\n\nb\n", "[…]\n\n\nb"},
		{"trailing lines are none", 1, "a\n\n\n", "a"},
		{"default", 0, strings.Repeat("l\n", 50), "[…]\n" + strings.TrimSuffix(strings.Repeat("l\n", 40), "\n")},
		{"one endless line", 2, "y" + long, "[…]\n" + long},
		{"invalid UTF-8", 2, "a\xff\xfeb\n", "a\uFFFDb"},
		{"binary", 2, "\x00\x01\x1b[31m", "\x00\x01\x1b[31m"},
		{"carriage returns", 2, "1%\r2%\r3%\r\n", "1%\r2%\r3%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tail := newTail(tt.lines)
			fmt.Fprint(tail, tt.in)
			if got := tail.String(); got != tt.want {
				t.Errorf("got %.80q, want %.80q", got, tt.want)
			}
		})
	}
}

// However the output comes in pieces, what is kept is the end of it: valid, not
// longer than allowed, and marked exactly when something is missing.
func TestTailProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.IntRange(1, 6).Draw(t, "lines")
		tail := newTail(lines)
		var all bytes.Buffer
		for _, piece := range rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces") {
			all.WriteString(piece)
			if n, err := tail.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
		}
		if len(tail.buf) > 2*maxTail {
			t.Fatalf("holds %d bytes", len(tail.buf))
		}
		kept, cut := strings.CutPrefix(tail.String(), "[…]\n")
		text := strings.TrimRight(all.String(), " \t\r\n")
		if !utf8.ValidString(kept) {
			t.Fatal("not valid UTF-8")
		}
		if n := strings.Count(kept, "\n") + 1; n > lines {
			t.Fatalf("%d lines, want at most %d", n, lines)
		}
		whole := strings.Count(text, "\n") < lines && all.Len() <= maxTail
		if cut == whole {
			t.Fatalf("marked as cut: %t, although whole: %t", cut, whole)
		}
		if valid := strings.ToValidUTF8(text, "\uFFFD"); whole && kept != valid {
			t.Fatalf("got %.80q, want %.80q", kept, valid)
		}
		if utf8.ValidString(text) && !strings.HasSuffix(text, strings.TrimLeft(kept, "\uFFFD")) {
			t.Fatal("what is kept is not the end of the output")
		}
	})
}

var pieces = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"\n", "a\n", "\n\n", " ", "\xff", "ü", strings.Repeat("z", maxTail-1), strings.Repeat("line\n", maxTail/2)}),
)
