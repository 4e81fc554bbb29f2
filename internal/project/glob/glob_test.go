package glob

import "testing"

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "b/a.go", false},
		{"**/*.go", "b/a.go", true},
		{"app/[id]", "app/[id]", true},
		{"app/[id]", "app/i", true},
		{"app/[id]", "app/id", false},
		{"app/[id]/**", "app/[id]/x/page.txt", true},
		{"app/[id]/**", "app/d/x/page.txt", true},
		{"app/[[...slug]]/*.ts", "app/[[...slug]]/page.ts", true},
		{"app/[...slug]/*.ts", "app/[...slug]/page.ts", true},
		{"**/[id]/*.{ts,tsx}", "a/[id]/page.tsx", true},
		{`app/\[id]/*`, "app/[id]/x", true},
		{`app/\[id]/*`, "app/i/x", false},
		{"[ab].go", "[ab].go", true},
		{"[ab].go", "c.go", false},
	} {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("%s %s: %t", tt.pattern, tt.name, got)
		}
	}
}
