package supervisor

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestNamesOfFiles(t *testing.T) {
	d := At(filepath.Join(".claude", "ccc"))
	got := []string{d.Path(), d.StateFile("abc123"), d.OutputFile("abc123"), d.LogFile()}
	for i, want := range []string{
		".claude/ccc", ".claude/ccc/supervisor-abc123.json", ".claude/ccc/supervisor-abc123-output.jsonl", ".claude/ccc/hook-invocation.log",
	} {
		if filepath.ToSlash(got[i]) != want {
			t.Errorf("%s, want %s", got[i], want)
		}
	}
}

func TestOutputIsAppended(t *testing.T) {
	d := newDir(t)
	for _, text := range []string{"{\"a\":1}\n", "{\"b\":", "{\"c\":1}\n"} { // the second was killed
		file, err := d.OpenOutput(someSession)
		check(t, err)
		_, err = file.WriteString(text)
		check(t, err)
		check(t, file.Close())
	}
	text, err := os.ReadFile(d.OutputFile(someSession))
	check(t, err)
	if want := "{\"a\":1}\n{\"b\":\n{\"c\":1}\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
	info, err := os.Stat(d.OutputFile(someSession))
	check(t, err)
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}
