//go:build unix

package launcher

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/programs"
)

// Under the name ccc the program is the launcher.
func TestLinkNamedCCC(t *testing.T) {
	root := t.TempDir()
	home, bin := filepath.Join(root, "home"), filepath.Join(root, "my bin")
	link := filepath.Join(bin, "ccc")
	err := errors.Join(
		os.Mkdir(bin, 0o700),
		programs.Build(bin),
		os.Symlink("stopgate", link),
		os.MkdirAll(filepath.Join(home, ".claude"), 0o700),
		os.WriteFile(filepath.Join(home, ".claude", "ccc.json"), []byte(`{"providers":{"hook":{},"glm":{"env":{"X":"glm"}}}}`), 0o600),
		os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho \"$X: $*\"\nexit 7\n"), 0o755),
	)
	if err != nil {
		t.Fatal(err)
	}
	run := func(supervised string, args ...string) (stdout, stderr string, code int) {
		cmd := exec.Command(link, args...)
		cmd.Dir = root
		cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin", "STOPGATE_STATE_DIR=" + filepath.Join(root, "state"), "CCC_SUPERVISOR=" + supervised}
		var out, failed strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &failed
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), failed.String(), cmd.ProcessState.ExitCode()
	}
	for _, tt := range []struct {
		args           []string
		stdout, stderr string
		code           int
	}{
		{[]string{"glm", "-p", "x"}, "glm: -p x\n", "", 7},
		{[]string{"--", "glm"}, "glm: glm\n", "", 7},
		{[]string{"--resume"}, "glm: --resume\n", "", 7},
		{[]string{"hook"}, ": \n", "", 7},
		{[]string{"provider", "use", "glm"}, "current provider: glm\n", "", 0},
		{[]string{"--version"}, "ccc version ", "", 0},
		{[]string{"-v"}, "ccc version ", "", 0},
		{[]string{"-h"}, "Start Claude Code", "", 0},
		{[]string{"gml"}, "", "available: glm, hook\ndid you mean glm?\n", 2},
	} {
		stdout, stderr, code := run("", tt.args...)
		if code != tt.code || !strings.HasPrefix(stdout, tt.stdout) || !strings.HasSuffix(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
			t.Errorf("ccc %q: exit %d\n%s%s", tt.args, code, stdout, stderr)
		}
	}
	if _, stderr, code := run("1"); code != 7 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	text, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	if want := `"command": "'` + link + `' supervisor-hook"`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("no %s in\n%s%v", want, text, err)
	}
}
