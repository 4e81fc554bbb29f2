//go:build unix

// Package world is a few machines on this one: each has a home, a state directory, a daemon, a hub and an address
// of its own, on a network that can be cut. Nothing of it is left after Close, nor when the program that made it
// panics or is killed.
package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

// World is some machines.
type World struct {
	Dir      string // everything of it lies here
	Bin      string // the programs
	Network  Network
	Machines []*Machine
	Keep     bool // the directory stays, for those who look for the cause of a failure

	janitor *janitor
}

// Options are what a world is made with.
type Options struct {
	Bin      string
	Machines int
	// Env is for every process, and PATH is Bin and ours.
	Env []string
	// Network makes the network; nil is Best.
	Network Connect
}

// worldVariable marks every process of a world, by its directory.
const worldVariable = "FLEET_WORLD"

// New makes a world in which nothing runs yet.
func New(o Options) (_ *World, err error) {
	dir, err := os.MkdirTemp("", "fleet") // a socket's path is short
	if err != nil {
		return nil, err
	}
	w := &World{Dir: dir, Bin: o.Bin}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.janitor, err = employ(dir, w.mark()); err != nil {
		return nil, err
	}
	connect := o.Network
	if connect == nil {
		connect = Best
	}
	if w.Network, err = connect(o.Machines, []string{w.mark()}); err != nil {
		return nil, err
	}
	for i := range o.Machines {
		m, err := newMachine(w, i, o.Env)
		if err != nil {
			return nil, err
		}
		w.Machines = append(w.Machines, m)
	}
	return w, nil
}

// mark is the variable of every process of the world.
func (w *World) mark() string { return worldVariable + "=" + w.Dir }

// Processes are the ids of the world's processes, those of the network aside.
func (w *World) Processes() (pids []int) {
	for i := range w.Machines {
		pids = append(pids, w.Machines[i].Processes()...)
	}
	return pids
}

// Left is what is still there of the machines once their daemons and hubs were ended: processes, and sockets
// that something listens on. A process that is just ending gets some time.
func (w *World) Left(ctx context.Context) (left []string) {
	for range pause.Doubling(ctx, 10*time.Millisecond, 200*time.Millisecond) {
		left = nil
		for _, pid := range w.Processes() {
			left = append(left, fmt.Sprintf("process %d %s", pid, commandOf(pid)))
		}
		left = append(left, w.sockets()...)
		if len(left) == 0 {
			break
		}
	}
	return left
}

// sockets are the sockets in the machines' state directories that something listens on.
func (w *World) sockets() (left []string) {
	for _, m := range w.Machines {
		_ = filepath.WalkDir(m.State, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeSocket == 0 {
				return nil
			}
			if conn, err := net.Dial("unix", path); err == nil {
				left = append(left, "socket "+path)
				return conn.Close()
			}
			return nil
		})
	}
	return left
}

// Close ends everything and removes the directory, unless it is to be kept. It names what would not end.
func (w *World) Close() error {
	err := Signal(w.everything(), syscall.SIGKILL)
	for _, m := range w.Machines {
		m.reap()
	}
	if w.Network != nil {
		err = w.Network.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var left []int
	var parts []string
	for range pause.Doubling(ctx, 10*time.Millisecond, 200*time.Millisecond) {
		left = w.everything()
		err = errors.Join(err, Signal(left, syscall.SIGKILL)) // what was being forked meanwhile
		if w.Network != nil {
			parts = w.Network.Left()
		}
		if len(left) == 0 && len(parts) == 0 {
			break // to look again would find others: the kernel gives a number of a namespace away once it is free
		}
	}
	for _, pid := range left {
		err = errors.Join(err, fmt.Errorf("process %d %s does not end", pid, commandOf(pid)))
	}
	for _, part := range parts {
		err = errors.Join(err, fmt.Errorf("%s is left of the network", part))
	}
	if w.janitor == nil {
		return errors.Join(err, os.RemoveAll(w.Dir))
	}
	word := "remove"
	if w.Keep {
		word = "keep"
	}
	return errors.Join(err, w.janitor.dismiss(word))
}

// everything are all processes of the world, those of the network, too.
func (w *World) everything() []int { return processtest.Having("\x00" + w.mark() + "\x00") }

// commandOf is a process's command line.
func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}
