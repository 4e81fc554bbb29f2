package change

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "plain", "a b": "a b", "ü": "ü", "bad\xff": "bad\xff",
		"new\nline": `"new\nline"`, "ta\tb": `"ta\tb"`, `quo"te`: `"quo\"te"`, `back\slash`: `"back\\slash"`, "bell\a\x01\x7f": `"bell\a\001\177"`,
	} {
		if got := Quote(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	for _, text := range []string{`"`, `"a`, `"\x"`, `"\`, `"\"`, `"\40"`, `"\400"`, `"\08a"`} {
		if got := unquote(text); got != "" {
			t.Errorf("%s: got %q, want nothing", text, got)
		}
	}
}

func TestUnquoteUndoesQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := "a/" + string(rapid.SliceOf(rapid.Byte()).Draw(t, "name"))
		if got := unquote(Quote(name)); got != name {
			t.Fatalf("got %q, want %q", got, name)
		}
	})
}

// Both names of a header are the same, so their border is in the middle, even
// where the name looks like a border itself.
func TestHeaderNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(
			rapid.StringMatching(`[ab/ "\\\n]+`),
			rapid.StringMatching(`(a/x b/x ?)+`),
		).Draw(t, "name")
		var s section
		s.start("diff --git " + Quote("a/"+name) + " " + Quote("b/"+name))
		if s.name != name {
			t.Fatalf("got %q, want %q", s.name, name)
		}
	})
	for _, line := range []string{"diff --git ", "diff --git a/x b/y", "diff --git a/x", "diff --git x y", `diff --git "a/x" "b/y"`, `diff --git "a/\x" "b/\x"`} {
		var s section
		if s.start(line); s.name != "" {
			t.Errorf("%s: got %q", line, s.name)
		}
	}
}
