//go:build linux

package packages

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// patience ends a shell that waits for something that does not come. It is long, for machines with other work.
const patience = 5 * time.Minute

// unpacked is a system with what the deb brings, and nothing else: what it has for shells and man.
func unpacked(t *testing.T) (root string, in func(name string, args ...string) *exec.Cmd) {
	t.Helper()
	environtest.Need(t, "dpkg-deb")
	root = t.TempDir()
	say(t, exec.Command("dpkg-deb", "--extract", packaged(t, "*.deb"), root))
	home, project := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return root, func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, environtest.Need(t, name), args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "HOME="+home, "TERM=dumb", "PATH="+root+"/usr/bin:"+os.Getenv("PATH"), "XDG_DATA_DIRS="+root+"/usr/share")
		return cmd
	}
}

func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	check(t, err)
	return path
}

func TestIssue19BashCompletes(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/share/bash-completion/bash_completion"); err != nil {
		environtest.Missing(t, "bash-completion", err)
	}
	_, in := unpacked(t)
	if out := say(t, in("bash", "--norc", script(t, "complete.bash"), "stopgate", "vio")); strings.TrimSpace(out) != "violations" {
		t.Errorf("bash offers:\n%s", out)
	}
	if out := say(t, in("bash", "--norc", script(t, "complete.bash"), "stopgate", "log", "--dec")); !strings.Contains(out, "--decision") {
		t.Errorf("bash offers:\n%s", out)
	}
}

func TestIssue19FishCompletes(t *testing.T) {
	t.Parallel()
	_, in := unpacked(t)
	if out := say(t, in("fish", "--command", `complete -C "stopgate vio"`)); out != "violations\tList and answer what reviews found\n" {
		t.Errorf("fish offers:\n%s", out)
	}
	if out := say(t, in("fish", "--command", `complete -C "stopgate log --dec"`)); !strings.HasPrefix(out, "--decision\t") {
		t.Errorf("fish offers:\n%s", out)
	}
}

func TestIssue19ZshCompletes(t *testing.T) {
	t.Parallel()
	root, in := unpacked(t)
	functions := filepath.Join(root, "usr", "share", "zsh", "vendor-completions")
	say(t, in("zsh", "-f", script(t, "complete.zsh"), functions, "stopgate vio", "stopgate violations"))
	say(t, in("zsh", "-f", script(t, "complete.zsh"), functions, "stopgate log --dec", "stopgate log --decision"))
}

func TestIssue19ManShowsThePages(t *testing.T) {
	t.Parallel()
	root, in := unpacked(t)
	for page, want := range map[string]string{
		"stopgate":      "runs your checks and reviews when Claude Code is about to stop",
		"stopgate-run":  "Run the gates for what changed",
		"stopgate-work": "stopgate work add",
		"stopgated":     "runs pipelines and agents for stopgate",
	} {
		cmd := in("man", "--manpath="+filepath.Join(root, "usr", "share", "man"), page)
		cmd.Env = append(cmd.Env, "MANWIDTH=200", "MAN_KEEP_FORMATTING=")
		if out := strings.Join(strings.Fields(say(t, cmd)), " "); !strings.Contains(out, want) || !strings.Contains(out, strings.ToUpper(page)+"(1)") {
			t.Errorf("man %s shows:\n%s", page, out)
		}
	}
}
