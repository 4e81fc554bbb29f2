//go:build unix

package conformance

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// The demo is what README's "make run" shows. In a pipe it plays once, and leaves nothing.
func TestDemoTellsItsStory(t *testing.T) {
	t.Parallel()
	cmd, clean := demo(t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		"http://127.0.0.1:",
		"/enter?token=",
		"✗ may not stop",
		"FAIL total: total 2 3 is 7, want 5",
		"✓ may stop  lint ✓ test ✓ code-quality ✓",
		"all gates have passed for exactly these files",
		"The password is part of the source.",
		"✓ may stop",
		"worker fixer started",
		"? Publish version 1.4.0 of the shop?",
		"answered: publish",
		"gates: failed",
		"gates: passed",
		"gates: unchanged",
		"release",
		"dead",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not come, or not in its place:\n%s", want, out)
		}
		rest = after
	}
	clean()
}

// A reader that is gone, as in "stopgate demo | head", and a terminal that is closed end it as well.
func TestDemoEndsWithItsReader(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(cmd *exec.Cmd, out io.Closer) error{
		"pipe":     func(_ *exec.Cmd, out io.Closer) error { return out.Close() },
		"terminal": func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, clean := demo(t)
			out, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			_, err = bufio.NewReader(out).ReadString('.')
			check(t, err)
			check(t, leave(cmd, out))
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 130 {
				t.Errorf("it ended with %v, want 130", err)
			}
			clean()
		})
	}
}

// Ctrl-C ends the demo at any time, and leaves nothing either.
func TestDemoEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"A small shop", "may not stop", "worker fixer started", "? Publish"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			cmd, clean := demo(t)
			out, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			lines := bufio.NewScanner(out)
			for lines.Scan() {
				if strings.Contains(lines.Text(), moment) {
					check(t, cmd.Process.Signal(os.Interrupt))
				}
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("it ended with %v, want 130", err)
			}
			clean()
		})
	}
}

// demo is the command, and a function that checks that nothing of it is left: no file, no process.
func demo(t *testing.T) (cmd *exec.Cmd, clean func()) {
	dir := t.TempDir()
	cmd = exec.Command(stopgate, "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, func() {
		t.Helper()
		left, err := os.ReadDir(dir)
		check(t, err)
		if len(left) > 0 {
			t.Errorf("files are left: %v", left)
		}
		if pids := processtest.Having("=" + dir); len(pids) > 0 {
			t.Errorf("processes are left: %v", pids)
		}
	}
}
