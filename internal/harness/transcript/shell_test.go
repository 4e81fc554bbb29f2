package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	line := func(name, command string) string {
		return `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"` + name + `","input":{"command":"` + command + `"}}]}}` + "\n"
	}
	first := line("Bash", "make") + line("Read", "x") + `{"type":"user","message":{"content":"Bash"}}` + "\n" + `{"type":"tool","name":"Bash"}` + "\n"
	half := line("Bash", `cd \"../my other\"\nmake`)
	cd := "cd \"../my other\"\nmake"
	write := func(text string) {
		t.Helper()
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want := func(from, size int64, command string, next int) int64 {
		t.Helper()
		got, at, err := Commands(path, from, size)
		if strings.Join(got, "|") != command || at != int64(next) || err != nil {
			t.Errorf("from %d: %q, %d, %v; want %q, %d", from, got, at, err, command, next)
		}
		return at
	}
	write(first + half[:20])
	at := want(0, 1<<20, "make", len(first))
	write(first + half)
	at = want(at, 1<<20, cd, len(first+half))
	want(at, 1<<20, "", len(first+half))
	want(0, int64(len(half)), cd, len(first+half))
	write(half) // a file that was written anew
	want(at, 1<<20, cd, len(half))
	if _, _, err := Commands(path+".gone", 0, 1); err == nil {
		t.Error("there is none")
	}
}
