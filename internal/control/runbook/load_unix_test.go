//go:build unix

package runbook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing outside the directory is read, since nobody approves it together with the
// runbooks; nor is anything that is no file.
func TestLoadStaysInTheDirectory(t *testing.T) {
	outside := tree(t, map[string]string{"x.toml": lint, "secret.md": "hush"})
	agent := func(file string) string {
		return "[agent.a]\nrun = \"x\"\nprompt_file = \"" + file + "\"\n"
	}
	dir := tree(t, map[string]string{
		"out.toml": agent("out.md"), "in.toml": agent("in.md"), "pipe.toml": agent("pipe.md"), "dir.toml": agent("sub"), "below.toml": agent("link/secret.md"),
		"real.md": "Do it.", "sub/x.md": "",
	})
	for from, to := range map[string]string{
		"out.md": filepath.Join(outside, "secret.md"), "in.md": "real.md", "link": outside,
		"linked.toml": filepath.Join(outside, "x.toml"), "gone.toml": "nowhere",
	} {
		check(t, os.Symlink(to, filepath.Join(dir, from)))
	}
	for _, name := range []string{"pipe.md", "fifo.toml"} {
		check(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	set, err := Load(dir)
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	if len(set.Runbooks) != 1 || set.Runbooks[0].Agents["a"].Prompt != "Do it." {
		t.Errorf("%+v", set.Runbooks)
	}
	wrong := map[string]string{
		"out.toml": "escapes", "below.toml": "escapes", "linked.toml": "escapes",
		"pipe.toml": "not a regular file", "fifo.toml": "not a regular file", "dir.toml": "not a regular file", "gone.toml": "does not exist",
	}
	for _, fault := range faults {
		want := wrong[filepath.Base(fault.File)]
		if want == "" || !strings.Contains(fault.Message, want) {
			t.Errorf("want %q, got %v", want, fault)
		}
		delete(wrong, filepath.Base(fault.File))
	}
	if len(wrong) > 0 {
		t.Errorf("no fault in %v", wrong)
	}
}
