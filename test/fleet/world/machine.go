//go:build unix

package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/programs"
)

// Machine is one of the world's.
type Machine struct {
	Number int
	Name   string
	Home   string
	State  string
	Client *daemonapi.Client // of its daemon
	Env    []string

	world *World
	rig   string // a file: see SetClock
	mu    sync.Mutex
	lives []*Life // of its daemon; the last one is the current
}

// names are those of machines: in the order of their numbers.
var names = []string{"laptop", "desk", "vps"}

func newMachine(w *World, number int, env []string) (*Machine, error) {
	name := fmt.Sprintf("host%d", number)
	if number < len(names) {
		name = names[number]
	}
	home := filepath.Join(w.Dir, name)
	m := &Machine{Number: number, Name: name, Home: home, State: filepath.Join(home, "s"), world: w, rig: filepath.Join(w.Dir, name+".rig")}
	m.Client = daemonapi.New(filepath.Join(m.State, "daemon.sock"), "test")
	m.Env = append(slices.Clone(env),
		w.mark(), fmt.Sprintf("%s=%d", machineVariable, number), "HOME="+home, "STOPGATE_STATE_DIR="+m.State, "STOPGATE_HUB_LISTEN="+w.Network.Behind(number),
		programs.RigVariable+"="+m.rig,
		"PATH="+w.Bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m, errors.Join(os.MkdirAll(m.State, 0o700), m.SetClock(0), m.SlowSync(0))
}

// Address is where others reach it.
func (m *Machine) Address() string { return m.world.Network.Address(m.Number) }

// Write writes a file below its home.
func (m *Machine) Write(name, text string) error {
	path := filepath.Join(m.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// Command is a program on the machine, by its name or path.
func (m *Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := filepath.Join(m.world.Bin, name)
	if _, err := os.Stat(path); err != nil || filepath.IsAbs(name) {
		path = name
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = m.Env, m.Home
	m.world.Network.Inside(m.Number, cmd)
	return cmd
}

// Run runs a program on the machine to its end, and returns its standard output.
func (m *Machine) Run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := m.Command(ctx, name, args...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %s %s: %w\n%s%s", m.Name, name, strings.Join(args, " "), err, problem.String(), out.String())
	}
	return out.String(), nil
}

// Processes are the ids of the machine's processes.
func (m *Machine) Processes() []int {
	pids := processtest.Having(fmt.Sprintf("\x00%s=%d\x00", machineVariable, m.Number))
	return slices.DeleteFunc(pids, func(pid int) bool { return !marked(pid, []string{m.world.mark()}) })
}

// Running are those of its processes whose command line has these words in this order, such as "stopgated hub".
func (m *Machine) Running(words string) (pids []int) {
	for _, pid := range m.Processes() {
		if strings.Contains(commandOf(pid)+" ", words+" ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Signal sends a signal to processes. Those that have ended are passed over.
func Signal(pids []int, s syscall.Signal) (err error) {
	for _, pid := range pids {
		if e := syscall.Kill(pid, s); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Crash ends everything on the machine at once, as a power cut does; what it has written is there.
func (m *Machine) Crash() error {
	var err error
	for range 3 { // what was being forked meanwhile
		err = errors.Join(err, Signal(m.Processes(), syscall.SIGKILL))
	}
	m.reap()
	return err
}

// reap waits for lives that have been ended.
func (m *Machine) reap() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lives {
		_ = l.cmd.Process.Kill() // it may have ended
		<-l.Ended
	}
}
