//go:build unix

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installer runs scripts/install with programs that only have names.
func installer(t *testing.T) (dir string, run func(environ []string, args ...string) (string, error)) {
	t.Helper()
	built := t.TempDir()
	for _, name := range []string{"stopgate", "stopgated"} {
		check(t, os.WriteFile(filepath.Join(built, name), []byte(name), 0o600))
	}
	prefix := t.TempDir()
	return filepath.Join(prefix, "bin"), func(environ []string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(repository, "scripts", "install"), append(args, built)...)
		cmd.Env = append(append(os.Environ(), "PREFIX="+prefix, "DESTDIR=", "LINKS="), environ...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

func TestMakeInstall(t *testing.T) {
	t.Parallel()
	dir, run := installer(t)
	out, err := run(nil, "install")
	check(t, err)
	if !strings.Contains(out, "Add "+dir+" to your PATH.\n") || strings.Contains(out, "daemon") || !strings.HasSuffix(out, "Next, in your project: stopgate init\n") {
		t.Errorf("%s", out)
	}
	for _, name := range []string{"stopgate", "stopgated"} {
		info, err := os.Stat(filepath.Join(dir, name))
		check(t, err)
		if info.Mode().Perm() != 0o755 || !strings.Contains(out, "installed "+filepath.Join(dir, name)+"\n") {
			t.Errorf("%s has %v:\n%s", name, info.Mode(), out)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "ccc")); err == nil {
		t.Error("ccc was made without LINKS=1")
	}

	// Again, with links; a program of another one's is kept.
	check(t, os.WriteFile(filepath.Join(dir, "oj"), nil, 0o600))
	out, err = run([]string{"LINKS=1", "PATH=" + os.Getenv("PATH") + ":" + dir}, "install")
	check(t, err)
	to, err := os.Readlink(filepath.Join(dir, "ccc"))
	check(t, err)
	if to != "stopgate" || !strings.Contains(out, "kept "+filepath.Join(dir, "oj")) || strings.Contains(out, "PATH") || !strings.Contains(out, "stopgate daemon restart") {
		t.Errorf("ccc is a link to %s:\n%s", to, out)
	}

	state := t.TempDir()
	out, err = run([]string{"STOPGATE_STATE_DIR=" + state}, "uninstall")
	check(t, err)
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 || left[0].Name() != "oj" || !strings.Contains(out, state+" is still there") || !strings.Contains(out, "stopgate uninstall --purge") {
		t.Errorf("%v is left:\n%s", left, out)
	}

	// After a purge there is nothing to tell.
	check(t, os.Remove(state))
	out, err = run([]string{"STOPGATE_STATE_DIR=" + state}, "uninstall")
	if err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
}

// A package is built below DESTDIR, where nothing is run next.
func TestMakeInstallBelowDestdir(t *testing.T) {
	t.Parallel()
	dir, run := installer(t)
	root := t.TempDir()
	out, err := run([]string{"DESTDIR=" + root}, "install")
	check(t, err)
	if _, err := os.Stat(filepath.Join(root, dir, "stopgate")); err != nil || strings.Contains(out, "Next") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("something is outside DESTDIR")
	}
}

func TestMakeInstallWithoutPermission(t *testing.T) {
	t.Parallel()
	dir, run := installer(t)
	check(t, os.WriteFile(dir, nil, 0o600)) // nothing can be made below a file, also by root
	out, err := run(nil, "install")
	if err == nil || out != "cannot write to "+dir+"\nrun: sudo make install, or: make install PREFIX=$HOME/.local\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
