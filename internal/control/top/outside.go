package top

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// outside is what runs while the terminal is not ours.
type outside func() error

// Run implements tea.ExecCommand. Bubble Tea hands the terminal over before what draws has ended. Where that ends after
// we are back, it stops the drawing that has begun again, for good: it gets a moment to end. No version has it fixed yet:
// https://github.com/charmbracelet/bubbletea/issues/1778.
func (o outside) Run() error {
	const moment = 100 * time.Millisecond
	time.Sleep(moment)
	return o()
}

// SetStdin implements tea.ExecCommand: what runs has its own files.
func (outside) SetStdin(io.Reader) {}

// SetStdout implements tea.ExecCommand.
func (outside) SetStdout(io.Writer) {}

// SetStderr implements tea.ExecCommand.
func (outside) SetStderr(io.Writer) {}

// suspend stops the program as a shell's job, until it is continued.
func suspend() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	<-continued
	return nil
}
