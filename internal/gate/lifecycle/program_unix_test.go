//go:build unix

package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRuling211SignalProgram(t *testing.T) {
	dir := t.TempDir()
	path := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"bin", "links", "others"} {
		check(t, os.Mkdir(path(name), 0o700))
	}
	program := path("bin", "stopgate")
	check(t, os.WriteFile(program, nil, 0o700))
	want := func(want string, env ...string) {
		t.Helper()
		if got := SignalProgram(program, env); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	want(program)
	check(t, os.WriteFile(path("others", "oj"), nil, 0o700)) // of somebody else
	check(t, os.Symlink(program, path("links", "oj")))
	want(program, "PATH="+path("others"))
	want(path("links", "oj"), "PATH="+path("links"))
	check(t, os.Symlink("stopgate", path("bin", "oj")))
	want(path("bin", "oj"), "PATH="+path("links"))
	if got := SignalProgram(path("gone"), nil); got != path("gone") {
		t.Errorf("%s", got)
	}
}
