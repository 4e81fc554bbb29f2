package term

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Page shows a text as git shows its own: on a terminal through $PAGER, or through less where that is
// not set; elsewhere as it is. A pager that cannot be started does not lose the text.
func Page(out io.Writer, text string) error {
	file, ok := fileOf(out)
	pager := pagerOf(os.Getenv, exec.LookPath)
	if ok && pager != "" && term.IsTerminal(int(file.Fd())) && runPager(pager, file, text) == nil {
		return nil
	}
	_, err := io.WriteString(Verbatim(out), text)
	return err
}

// pagerOf is the command line of the pager; empty where there is none.
func pagerOf(getenv func(string) string, lookPath func(string) (string, error)) string {
	if pager := strings.TrimSpace(getenv("PAGER")); pager != "" {
		if pager == "cat" {
			return ""
		}
		return pager
	}
	if _, err := lookPath("less"); err != nil || getenv("TERM") == "dumb" {
		return ""
	}
	return "less -FRX"
}

// runPager returns an error when nothing was shown.
func runPager(pager string, screen *os.File, text string) error {
	var safe bytes.Buffer
	if _, err := plain.Writer(&safe).Write([]byte(text)); err != nil {
		return err
	}
	args := process.Shell(pager)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &safe, screen, os.Stderr
	if cmd.Env = os.Environ(); os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is the pager's
	defer signal.Reset(os.Interrupt)

	const notFound = 126 // or not executable; the shell says which, and uses the codes from here on
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < notFound {
		return nil // what a pager has to say is on the screen
	}
	return err
}
