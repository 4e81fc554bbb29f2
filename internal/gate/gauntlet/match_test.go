package gauntlet

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEntriesFor(t *testing.T) {
	tests := []struct {
		name    string
		path    string
		exclude []string
		files   []string
		want    []string
	}{
		{"root on any change", ".", nil, []string{"a/b"}, []string{"."}},
		{"no change, no entry", ".", nil, nil, nil},
		{"a folder", "src", nil, []string{"src/a.go"}, []string{"src"}},
		{"a file", "src/a.go", nil, []string{"src/a.go"}, []string{"src/a.go"}},
		{"not a name that begins alike", "app", nil, []string{"apple/x"}, nil},
		{"each folder once", "packages/*", nil, []string{"packages/a/x", "packages/a/y", "packages/b/c/z"}, []string{"packages/a", "packages/b"}},
		{"a file in the parent is no folder", "packages/*", nil, []string{"packages/README.md"}, nil},
		{"top-level folders", "*", nil, []string{"README.md", "a/x", "b/y/z"}, []string{"a", "b"}},
		{"a pattern stays itself", "src/**/*.go", nil, []string{"src/a.go"}, []string{"src/**/*.go"}},
		{"a star that is no folder is a pattern", "src/foo*", nil, []string{"src/foobar"}, []string{"src/foo*"}},
		{"a pattern for folders", "packages/*/src", nil, []string{"packages/a/src/deep/x"}, []string{"packages/*/src"}},
		{"braces for folders", "{src,packages}", nil, []string{"packages/a/x"}, []string{"{src,packages}"}},
		{"a star below a star", "packages/*/*", nil, []string{"packages/a/b/c/x"}, []string{"packages/*/*"}},
		{"not beside the folders", "packages/*/src", nil, []string{"packages/a/x", "packages/src/x", "src/x"}, nil},
		{"an exception names no folder", "!**/*.md", nil, []string{"docs/a.md"}, nil},
		{"exclude within a pattern's folder", "packages/*/src", []string{"packages/a"}, []string{"packages/a/src/x"}, nil},
		{"braces", "*.{ts,tsx}", nil, []string{"a.tsx"}, []string{"*.{ts,tsx}"}},
		{"exclude a file", ".", []string{"a"}, []string{"a"}, nil},
		{"exclude a folder", ".", []string{"docs"}, []string{"docs/a", "docs/b/c"}, nil},
		{"exclude a folder with a slash", ".", []string{"docs/"}, []string{"docs/a"}, nil},
		{"exclude by pattern", ".", []string{"**/*.md"}, []string{"README.md", "a/b.md"}, nil},
		{"what survives counts", ".", []string{"**/*.md"}, []string{"README.md", "a.go"}, []string{"."}},
		{"wildcard and exclude", "packages/*", []string{"packages/a"}, []string{"packages/a/x", "packages/b/y"}, []string{"packages/b"}},
		{"spaces, newlines, any bytes", "a b", nil, []string{"a b/c\nd\xff"}, []string{"a b"}},
		{"colon", "a:b", nil, []string{"a:b/c"}, []string{"a:b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := entriesFor(tt.path, tt.exclude, tt.files); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The older tool's patterns.
func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, file string
		want          bool
	}{
		{"*", "a", true},
		{"*", "a/b", false},
		{"?", "/", false},
		{"**/*.md", "README.md", true},
		{"src/**/a.ts", "src/a.ts", true},
		{"src/**/a.ts", "src/x/y/a.ts", true},
		{"src/**", "src/x/.hidden", true},
		{"*.md", ".md", true},
		{"*.MD", "a.md", false},
		{"[ab].go", "a.go", true},
		{"[!a].go", "a.go", false},
		{"[^a].go", "b.go", true},
		{"{a,b}.{go,ts}", "b.ts", true},
		{"!*.md", "a.go", true},
		{"!*.md", "a.md", false},
		{`\*.go`, "*.go", true},
		{`\*.go`, "a.go", false},
		{"foo**", "foo/bar", false},
	}
	for _, tt := range tests {
		if got := matches(tt.pattern, tt.file); got != tt.want {
			t.Errorf("matches(%q, %q) = %t", tt.pattern, tt.file, got)
		}
	}
}

// Whatever the entries of an entry point are, each of them covers a file that
// led to it, and none an excluded one.
func TestEntriesCoverWhatLedToThem(t *testing.T) {
	segment := rapid.StringMatching(`[a-c.]{1,2}`)
	file := rapid.Custom(func(t *rapid.T) string {
		s := segment.Draw(t, "first")
		for range rapid.IntRange(0, 2).Draw(t, "depth") {
			s += "/" + segment.Draw(t, "next")
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(file, rapid.Just("."), rapid.Custom(func(t *rapid.T) string { return file.Draw(t, "parent") + "/*" })).Draw(t, "path")
		files := rapid.SliceOf(file).Draw(t, "files")
		exclude := rapid.SliceOfN(file, 0, 2).Draw(t, "exclude")
		for _, entry := range entriesFor(path, exclude, files) {
			led := func(f string) bool { return leads(entry, f) && !excluded(exclude, f) }
			if !slices.ContainsFunc(files, led) {
				t.Fatalf("%q at %q: no file of %q leads there", entry, path, files)
			}
		}
	})
}
