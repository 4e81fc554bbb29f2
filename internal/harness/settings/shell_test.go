package settings

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestShellCommand(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/local/bin/ccc":    "/usr/local/bin/ccc supervisor-hook",
		"/a-b_c.d+e,f:g@h%i/0Z": "/a-b_c.d+e,f:g@h%i/0Z supervisor-hook",
		"/a b/ccc":              "'/a b/ccc' supervisor-hook",
		"/it's/ccc":             `'/it'\''s/ccc' supervisor-hook`,
		"/$HOME/`x`/ccc":        "'/$HOME/`x`/ccc' supervisor-hook",
		"~/ccc":                 "'~/ccc' supervisor-hook",
		"/ä/ccc":                "'/ä/ccc' supervisor-hook",
		"":                      "'' supervisor-hook",
	} {
		if got := ShellCommand(path, "supervisor-hook"); got != want {
			t.Errorf("%q became %s", path, got)
		}
	}
}

// The shell of a hook on Windows is Git Bash, which finds programs by a path with slashes.
func TestIssue19WindowsPathsInCommandLines(t *testing.T) {
	want := `'C:\Program Files\stopgate.exe' hook`
	if runtime.GOOS == "windows" {
		want = `'C:/Program Files/stopgate.exe' hook`
	}
	if got := ShellCommand(`C:\Program Files\stopgate.exe`, "hook"); got != want {
		t.Errorf("became %s", got)
	}
	entry := Entry{Event: "Stop", Command: `'C:\gone\stopgate.exe' hook Stop`}
	if runtime.GOOS == "windows" && !entry.ours() {
		t.Error("an entry with backslashes is not ours")
	}
}

func FuzzShellCommand(f *testing.F) {
	for _, path := range []string{"/usr/bin/ccc", "/a b/ccc", "'", `\'`, `"`, "a\nb", "", " x ", "'''", `a\`, "\xff"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		word, rest := firstWord(ShellCommand(path, "supervisor-hook"))
		if word != filepath.ToSlash(path) || strings.TrimSpace(rest) != "supervisor-hook" {
			t.Errorf("%q is read back as %q and %q", path, word, rest)
		}
		firstWord(path)
	})
}
