//go:build unix

package settings

import (
	"os/exec"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// The client has a shell take the command line apart, so a shell must get the path
// that was meant.
func TestAShellReadsTheCommand(t *testing.T) {
	sh := environtest.Need(t, "sh")
	for _, path := range []string{
		"/usr/local/bin/ccc", "/a b/ccc", "/it's/'x'/ccc", "/$HOME/`id`/\"q\"/ccc", "/a\nb\t/ccc", `/back\slash/c\'c`, "~/x", "#x", "a=b", "{a,b}*?[x]", "!x;y&z|<>()", "ä", "-n",
	} {
		out, err := exec.Command(sh, "-c", "printf '<%s>' "+ShellCommand(path, "supervisor-hook")).Output()
		if err != nil || string(out) != "<"+path+"><supervisor-hook>" {
			t.Errorf("%q: the shell got %q, %v", path, out, err)
		}
	}
}
