//go:build unix

package conformance

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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
	for name, way := range map[string]struct {
		leave func(cmd *exec.Cmd, out io.Closer) error
		code  int
	}{
		"pipe":     {func(_ *exec.Cmd, out io.Closer) error { return out.Close() }, 141},
		"terminal": {func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGHUP) }, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, clean := demo(t)
			out, err := cmd.StdoutPipe()
			check(t, err)
			check(t, cmd.Start())
			_, err = bufio.NewReader(out).ReadString('.')
			check(t, err)
			check(t, way.leave(cmd, out))
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != way.code {
				t.Errorf("it ended with %v, want %d", err, way.code)
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

// The page of a session of the demo has what the person said.
func TestDemoShowsPrompts(t *testing.T) {
	t.Parallel()
	cmd, clean := demo(t)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	jar, err := cookiejar.New(nil)
	check(t, err)
	browser := &http.Client{Jar: jar}
	var link *url.URL
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if strings.Contains(text, "/enter?token=") {
			link, err = url.Parse(text)
			check(t, err)
			fetch(t, browser, text)
		}
		if strings.Contains(text, "worker fixer started") {
			check(t, cmd.Process.Signal(syscall.SIGSTOP)) // what follows needs time, and the demo would end
			if page := fetch(t, browser, "http://"+link.Host+"/sessions/cart"); !strings.Contains(page, "Make the cart faster.") {
				t.Errorf("no prompt in %s", page)
			}
			check(t, cmd.Process.Signal(os.Interrupt))
			check(t, cmd.Process.Signal(syscall.SIGCONT))
		}
	}
	_ = cmd.Wait() // it was interrupted
	clean()
}

func fetch(t *testing.T, browser *http.Client, address string) string {
	t.Helper()
	r, err := browser.Get(address)
	check(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	check(t, err)
	return string(text)
}

// Where the path of the directory for such files is too long for a socket, the demo takes another one.
func TestDemoPlaysWithALongTMPDIR(t *testing.T) {
	t.Parallel()
	cmd, _ := demo(t)
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	check(t, os.Mkdir(long, 0o700))
	cmd.Env = append(cmd.Env, "TMPDIR="+long)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	linked := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !linked && strings.Contains(lines.Text(), "/enter?token=") {
			linked = true
			check(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	_ = cmd.Wait() // it was interrupted
	left, err := os.ReadDir(long)
	if !linked || len(left) > 0 || err != nil {
		t.Errorf("a link: %t; left: %v, %v", linked, left, err)
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
		// The daemon gives its lock back, for which the demo waits, just before it has ended.
		eventually(t, "no process is left", func() bool { return len(processtest.Having("="+dir)) == 0 })
	}
}
