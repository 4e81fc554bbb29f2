//go:build unix

package top

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// A panic leaves the terminal as it was.
func TestAPanicLeavesTheTerminalAsItWas(t *testing.T) {
	tmux := environtest.Need(t, "tmux")
	self, err := os.Executable()
	check(t, err)
	dir, err := os.MkdirTemp("", "top") // a socket's path is short
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	person := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(tmux, append([]string{"-u", "-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return string(out)
	}

	person("new-session", "-d", "-x", "80", "-y", "24", self+" "+breaks+` 2> /dev/null; echo left=$?; stty -a | tr '\n' ' '; exec cat`)
	t.Cleanup(func() { person("kill-server") })
	screen := ""
	checktest.Eventually(t, "it has ended", func() bool {
		screen = person("capture-pane", "-p", "-J")
		return strings.Contains(screen, "left=1") && strings.Contains(screen, "echoke")
	})
	for _, want := range []string{"internal error; the terminal was restored", " icanon", " echo ", " isig"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not to be seen:\n%s", want, screen)
		}
	}
	if got := person("display-message", "-p", "#{cursor_flag} #{alternate_on}"); got != "1 0\n" {
		t.Errorf("cursor and alternate screen: %s", got)
	}
}
