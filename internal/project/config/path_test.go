package config

import (
	"path"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLogDir(t *testing.T) {
	for text, want := range map[string]string{ // empty: a fault
		"logs": "logs", "./logs/": "logs", "a//b": "a/b", "a b/ü": "a b/ü", "...": "...", ".github/logs": ".github/logs",
		".gitlogs": ".gitlogs", "..logs": "..logs",
		".": "", "./": "", "": "", " ": "", "./ /": "", "..": "", "../x": "", "a/../b": "", "/": "", "/logs": "", `a\b`: "", `..\x`: "",
		".git": "", ".git/": "", "./.git/x": "", ".GIT/logs": "", ".gauntlet": "", ".gauntlet/logs": "", ".Gauntlet": "", "sub/.git/logs": "",
	} {
		p, err := ParseProject("config.yml", []byte("log_dir: "+strconv.Quote(text)))
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: got %q and no fault", text, p.Gauntlet.LogDir)
		case want != "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && p.Gauntlet.LogDir != want:
			t.Errorf("%q: got %q, want %q", text, p.Gauntlet.LogDir, want)
		}
	}
}

func TestEntryPointPath(t *testing.T) {
	for text, want := range map[string]string{ // empty: a fault
		".": ".", "./": ".", "src": "src", "src/": "src", "./src": "src", "packages/*": "packages/*", "**/*.md": "**/*.md",
		"a/{b,c}/[!x]?": "a/{b,c}/[!x]?", "src/./x": "src/x", "-x": "-x", `a\*b`: `a\*b`, "a..b": "a..b",
		"": "", "/": "", "/src": "", "..": "", "../src": "", "src/..": "", "src/../..": "", "[": "", "{a": "", "a\x00b": "",
	} {
		p, err := ParseProject("config.yml", []byte("entry_points: [path: "+strconv.Quote(text)+"]"))
		switch {
		case want == "" && err == nil:
			t.Errorf("%q: got %q and no fault", text, p.entryPoints[0].Path)
		case want != "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && p.entryPoints[0].Path != want:
			t.Errorf("%q: got %q, want %q", text, p.entryPoints[0].Path, want)
		}
	}
}

// Whatever is written, a folder that is accepted is inside the project, and
// reading it again changes nothing.
func TestFoldersStayInside(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", ".", "..", "", "...", "/", ".git", " ", "b c", "-"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "/")
		check := newCheck("x")
		if parseCheck("x.yml", []byte("command: x\nworking_directory: "+strconv.Quote(text)), check) != nil {
			return
		}
		got := check.WorkingDirectory
		if joined := path.Join("/home/project", got); joined != "/home/project" && !strings.HasPrefix(joined, "/home/project/") {
			t.Fatalf("%q leads to %q", text, joined)
		}
		again := newCheck("x")
		if err := parseCheck("x.yml", []byte("command: x\nworking_directory: "+strconv.Quote(got)), again); err != nil || again.WorkingDirectory != got {
			t.Fatalf("%q became %q, and that %q (%v)", text, got, again.WorkingDirectory, err)
		}
	})
}
