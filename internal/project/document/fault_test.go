package document

import (
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		line          string
		column, width int
		want          string
	}{
		{"abc def", 5, 3, "abc def\n    ^^^"},
		{"abc", 4, 1, "abc\n   ^"},
		{"abc", 9, 1, "abc\n   ^"},
		{"", 1, 1, "\n^"},
		{"\ta\tb", 4, 1, "\ta\tb\n\t \t^"},
		{"日本 x", 4, 1, "日本 x\n     ^"},
		{"日本", 1, 2, "日本\n^^^^"},
		{"e\u0301 x", 4, 1, "e\u0301 x\n  ^"},
		{"\x1b[31m x", 7, 1, "\ufffd[31m x\n      ^"},
		{"\u202ex", 2, 1, "\ufffdx\n ^"},
		{"\u202ex", 1, 1, "\ufffdx\n^"},
		{"a\u200bb", 2, 1, "a\ufffdb\n ^"},
		{"e\u0301", 2, 1, "e\u0301\n ^"},
		{"🧪🪐 x", 4, 1, "🧪🪐 x\n     ^"},
		{"abc", 1, 99, "abc\n^^^"},
	} {
		if got := excerpt(c.line, c.column, c.width); got != c.want {
			t.Errorf("%q:%d:\n%s\nwant\n%s", c.line, c.column, got, c.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	words := []string{"match", "run", "timeout", "on_failure", "SubagentStop", "Stop"}
	for word, want := range map[string]string{
		"rnu": "run", "RUN": "run", "timout": "timeout", "onFailure": "on_failure", "stop": "Stop",
		"subagentstpo": "SubagentStop", "mtach": "match", "xyz": "", "": "", "on": "", "tiemouts!": "",
		"run": "run", strings.Repeat("run", 100_000): "",
	} {
		if got := Suggest(word, words); got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
	if got := Suggest("a", nil); got != "" {
		t.Errorf("out of nothing: %q", got)
	}
}
