package logdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

func TestLogsNeverShowUpInGit(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	git("init", "-q")
	d := At(filepath.Join(root, "build", "logs"))
	lock := acquire(t, d)
	console, _, err := d.Console()
	check(t, err)
	check(t, console.Close())
	check(t, d.WriteState(State{}))
	if got := git("status", "--porcelain", "-uall"); got != "" {
		t.Errorf("git sees %s", got)
	}
	check(t, lock.Release())
}

func TestADirectoryWithContentIsLeftToItsOwner(t *testing.T) {
	d := tempDir(t)
	write(t, d.file("notes.txt"), "mine")
	check(t, acquire(t, d).Release())
	if disk.Exists(d.file(".gitignore")) {
		t.Error("somebody else's directory is ignored now")
	}
}
