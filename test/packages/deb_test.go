//go:build linux

package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// dpkg runs on a system of its own: an empty directory with dpkg's records of what is installed there. It needs
// programs of root's PATH, also where a user runs it. The settings of a container leave out the manual.
func dpkg(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := asRoot(t, "dpkg", append([]string{"--root=" + root, "--force-not-root", "--force-script-chrootless", "--log=/dev/null", "--path-include=/usr/share/*"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	return say(t, cmd)
}

// asRoot is a command as root, of a namespace where we are not.
func asRoot(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() == 0 {
		return exec.Command(name, args...)
	}
	unshare := environtest.Need(t, "unshare")
	if out, err := exec.Command(unshare, "--map-root-user", "true").CombinedOutput(); err != nil {
		environtest.Missing(t, "root or user namespaces", fmt.Errorf("%w: %s", err, out))
	}
	return exec.Command(unshare, append([]string{"--map-root-user", name}, args...)...)
}

func TestIssue19TheDebIsInstalledUsedAndRemoved(t *testing.T) {
	t.Parallel()
	environtest.Need(t, "dpkg")
	deb, root := packaged(t, "*.deb"), t.TempDir()
	admin := filepath.Join(root, "var", "lib", "dpkg")
	check(t, os.MkdirAll(filepath.Join(admin, "info"), 0o755))
	check(t, os.Mkdir(filepath.Join(admin, "updates"), 0o755))
	checktest.Write(t, filepath.Join(admin, "status"), "")

	dpkg(t, root, "--install", deb)
	if out := dpkg(t, root, "--status", "stopgate"); !strings.Contains(out, "\nStatus: install ok installed\n") || !strings.Contains(out, "\nVersion: 1.2.3~rc.1\n") {
		t.Errorf("%s", out)
	}
	if out := dpkg(t, root, "--verify", "stopgate"); out != "" {
		t.Errorf("installed otherwise than packed: %s", out)
	}
	use(t, filepath.Join(root, "usr", "bin"), "v"+version)
	checkSystemFiles(t, root, "usr/share/zsh/vendor-completions/_stopgate", "usr/share/doc/stopgate/copyright")

	dpkg(t, root, "--purge", "stopgate")
	left := slices.DeleteFunc(left(t, root), func(path string) bool { return strings.HasPrefix(path, "var/lib/dpkg/") })
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// checkSystemFiles looks for what a system's package has besides the programs.
func checkSystemFiles(t *testing.T, root string, more ...string) {
	t.Helper()
	for _, path := range append(more, "usr/lib/systemd/user/stopgated.service", "usr/share/man/man1/stopgate.1.gz", "usr/share/man/man1/stopgated.1.gz",
		"usr/share/bash-completion/completions/stopgate", "usr/share/fish/vendor_completions.d/stopgate.fish") {
		info, err := os.Stat(filepath.Join(root, path))
		check(t, err)
		if info.Mode() != 0o644 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}
