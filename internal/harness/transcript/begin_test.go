package transcript

import (
	"path/filepath"
	"strings"
	"testing"
)

// A session can go on with a transcript that has a message in it, and where it began, whatever the agent did then.
func TestBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	const title = `{"type":"summary","summary":"a shop"}` + "\n"
	for name, tt := range map[string]struct {
		text  string
		holds bool
		at    string
	}{
		"nothing":              {"", false, ""},
		"a title":              {title, false, ""},
		"a prompt":             {title + `{"type":"user","cwd":"/a"}` + "\n", true, "/a"},
		"an answer":            {`{"type":"assistant","cwd":"/a"}` + "\n", true, "/a"},
		"it went on elsewhere": {`{"type":"user","cwd":"/a"}` + "\n" + `{"type":"assistant","cwd":"/b"}` + "\n", true, "/a"},
		"what is too long":     {strings.Repeat(title, lookedAt/len(title)+1), true, ""},
	} {
		write(t, path, tt.text)
		if holds, at := HoldsMessage(path), BeganAt(path); holds != tt.holds || at != tt.at {
			t.Errorf("%s: holds one is %t, began at %q", name, holds, at)
		}
	}
	if !HoldsMessage(path+".none") || BeganAt(path+".none") != "" {
		t.Error("what is not there is left to Claude Code")
	}
}
