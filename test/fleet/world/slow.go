//go:build unix

package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// SlowSync makes each sync to disk of some processes take longer, until heal is called. strace does it.
func SlowSync(pids []int, by time.Duration) (heal func() error, err error) {
	const calls = "fsync,fdatasync"
	args := []string{"-f", "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:delay_enter=%d", calls, by.Microseconds()), "-o", os.DevNull}
	for _, pid := range pids {
		args = append(args, "-p", fmt.Sprint(pid))
	}
	cmd := exec.Command("strace", args...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	heal = func() error {
		_ = cmd.Process.Signal(os.Interrupt) // then it lets go of them; it may have ended with them
		_ = cmd.Wait()                       // it ends by that signal
		return nil
	}

	lines := bufio.NewScanner(said)
	for attached := 0; attached < len(pids); {
		if !lines.Scan() {
			return nil, errors.Join(errors.New("strace does not trace"), heal(), lines.Err())
		}
		if strings.Contains(lines.Text(), " attached") {
			attached++
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // what it says of new threads
	return heal, nil
}
