package commandline

import "testing"

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"":                 "''",
		"/usr/bin/a-b_1.2": "/usr/bin/a-b_1.2",
		"a=b":              "'a=b'",
		"my file":          "'my file'",
		`it's`:             `'it'\''s'`,
		`a\b`:              `'a\b'`,
		"~":                "'~'",
		"a[1]":             "'a[1]'",
		"{a,b}":            "'{a,b}'",
		"a\nb":             "'a\nb'",
	} {
		if got := Quote(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
