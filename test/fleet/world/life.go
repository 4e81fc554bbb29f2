//go:build unix

package world

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Life is one life of a machine's daemon.
type Life struct {
	Ready chan struct{} // closed when it is
	Ended chan struct{} // closed when it has
	Err   error         // why it could not be ready, or how it ended; once it has ended

	cmd *exec.Cmd
}

// StartDaemon starts the machine's daemon: the world's, or one that lies elsewhere.
func (m *Machine) StartDaemon(program string) (*Life, error) {
	ear, mouth, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer mouth.Close()
	log, err := os.OpenFile(filepath.Join(m.Home, "daemon.out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(err, ear.Close())
	}
	defer log.Close()
	cmd := m.Command(context.Background(), program, "daemon")
	cmd.Env = append(cmd.Env, "STOPGATED_READY_FD=3")
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{mouth}, log, log
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ear.Close())
	}
	l := &Life{cmd: cmd, Ready: make(chan struct{}), Ended: make(chan struct{})}
	go l.live(ear)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lives = append(m.lives, l)
	return l, nil
}

// live hears what the daemon says, and waits for its end.
func (l *Life) live(ear io.ReadCloser) {
	defer close(l.Ended)
	defer ear.Close()
	var word struct {
		Ready bool
		Error string
	}
	text, err := bufio.NewReader(ear).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &word)
	}
	switch {
	case err == nil && word.Ready:
		close(l.Ready)
	case err == nil:
		err = fmt.Errorf("the daemon could not start: %s", word.Error)
	case errors.Is(err, io.EOF): // it was killed
		err = nil
	}
	l.Err = errors.Join(err, l.cmd.Wait())
}

// Await waits until the daemon is ready.
func (l *Life) Await(ctx context.Context) error {
	select {
	case <-l.Ready:
		return nil
	case <-l.Ended:
		return fmt.Errorf("the daemon ended before it was ready: %w", l.Err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kill ends it with kill -9, and waits for that.
func (l *Life) Kill() {
	_ = l.cmd.Process.Kill() // it may have ended
	<-l.Ended
}

// Signal sends it a signal.
func (l *Life) Signal(s syscall.Signal) error { return l.cmd.Process.Signal(s) }

// Daemon is the current life of the machine's daemon; nil before the first.
func (m *Machine) Daemon() *Life {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lives) == 0 {
		return nil
	}
	return m.lives[len(m.lives)-1]
}
