package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// breakAll breaks and heals, one fault after the other.
func (s *stage) breakAll(faults []fault) error {
	for i, f := range faults {
		if err := pause.For(s.ctx, f.after); err != nil {
			return err
		}
		s.Logf("%s fault %d: %s", time.Now().UTC().Format("15:04:05"), i+1, f.says(s.name))
		if err := s.breakOne(f); err != nil {
			return fmt.Errorf("fault %d, %s: %w", i+1, f.says(s.name), err)
		}
	}
	return nil
}

// breakOne has a fault take place, for as long as it lasts, and heals it.
func (s *stage) breakOne(f fault) error {
	from := time.Now()
	s.mu.Lock()
	s.current = f
	s.mu.Unlock()
	heal, err := s.do(f)
	if err == nil {
		err = pause.For(s.ctx, f.lasts)
	}
	if heal != nil {
		if wrong := heal(); err == nil {
			err = wrong
		}
	}
	s.mu.Lock()
	s.spans = append(s.spans, span{f, from, time.Now()})
	s.current = fault{}
	s.mu.Unlock()
	if err != nil || f.pick%2 == 0 {
		return err
	}
	return s.together(f) // after the others the next fault comes at once
}

// do does what a fault is, and returns what heals it.
func (s *stage) do(f fault) (heal func() error, err error) {
	m := s.Machines[f.on]
	switch f.kind {
	case killDaemon:
		return nil, s.exchangeDaemon(m, "stopgated")
	case killHub:
		return nil, s.signalHub(m, syscall.SIGKILL)
	case killHubs:
		for _, m := range s.Machines {
			if err := s.signalHub(m, syscall.SIGKILL); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case killAgent:
		return nil, s.killAgent(m, f.pick)
	case crash:
		return func() error { return s.startDaemon(m, "stopgated") }, m.Crash()
	case pauseDaemon:
		return func() error { return m.Daemon().Signal(syscall.SIGCONT) }, m.Daemon().Signal(syscall.SIGSTOP)
	case pauseHub:
		return func() error { return world.Signal(hubs(m), syscall.SIGCONT) }, s.signalHub(m, syscall.SIGSTOP)
	case pauseMachine:
		return func() error { return world.Signal(m.Processes(), syscall.SIGCONT) }, world.Signal(m.Processes(), syscall.SIGSTOP)
	case cutMachine:
		return s.cut(s.around(f.on))
	case cutLeader:
		leader, err := s.leader()
		if err != nil {
			return nil, err
		}
		return s.cut(s.around(leader))
	case cutOneWay:
		return s.cut([][2]int{{f.on, f.other}})
	case cutPair:
		return s.cut([][2]int{{f.on, f.other}, {f.other, f.on}})
	case fullDisk:
		return s.disk.Free, s.disk.Fill()
	case emptyHub:
		return nil, s.emptyHub(m)
	case flipBit:
		return func() error { return s.emptyHub(m) }, s.flipBit(m, f.pick)
	case slowSync:
		return func() error { return m.SlowSync(0) }, m.SlowSync(200 * time.Millisecond)
	case moveClock:
		return func() error { return m.SetClock(0) }, m.SetClock(clockMoves[f.pick>>1%2])
	case olderDaemon:
		return func() error { return s.exchangeDaemon(m, "stopgated") }, s.exchangeDaemon(m, filepath.Join(s.older, "stopgated"))
	}
	return nil, fmt.Errorf("unknown fault %q", f.kind)
}

// clockMoves are how far a clock is wrong.
var clockMoves = [2]time.Duration{time.Hour, -time.Hour}

// exchangeDaemon kills a machine's daemon and starts another one.
func (s *stage) exchangeDaemon(m *world.Machine, program string) error {
	m.Daemon().Kill()
	return s.startDaemon(m, program)
}

// around are all ways to and from a machine.
func (s *stage) around(machine int) (ways [][2]int) {
	for other := range s.Machines {
		if other != machine {
			ways = append(ways, [2]int{machine, other}, [2]int{other, machine})
		}
	}
	return ways
}

// cut cuts ways.
func (s *stage) cut(ways [][2]int) (heal func() error, err error) {
	heal = func() (err error) {
		for _, w := range ways {
			if wrong := s.Network.Heal(w[0], w[1]); wrong != nil {
				err = wrong
			}
		}
		return err
	}
	for _, w := range ways {
		if err := s.Network.Cut(w[0], w[1]); err != nil {
			return heal, err
		}
	}
	return heal, nil
}

// hubs are the processes that are a machine's hub: one, or none while it is started again.
func hubs(m *world.Machine) []int { return m.Running("stopgated hub") }

// signalHub sends a signal to a machine's hub, once there is one.
func (s *stage) signalHub(m *world.Machine, signal syscall.Signal) error {
	for range pause.Doubling(s.ctx, 10*time.Millisecond, 500*time.Millisecond) {
		if pids := hubs(m); len(pids) > 0 {
			return world.Signal(pids, signal)
		}
	}
	return fmt.Errorf("%s has no hub: %w", m.Name, s.ctx.Err())
}

// killAgent kills one of a machine's agents. Where none comes up for a while there is none to kill.
func (s *stage) killAgent(m *world.Machine, pick uint64) error {
	ctx, cancel := context.WithTimeout(s.ctx, 20*time.Second)
	defer cancel()
	for range pause.Doubling(ctx, 10*time.Millisecond, 500*time.Millisecond) {
		pids := agentsOf(m)
		if len(pids) == 0 {
			continue
		}
		pid := pids[pick%uint64(len(pids))]
		agent := variable(pid, "STOPGATE_AGENT_ID")
		s.mu.Lock()
		s.shot[agent] = true
		s.mu.Unlock()
		return world.Signal([]int{pid}, syscall.SIGKILL)
	}
	return s.ctx.Err()
}

// agentsOf are the stand-ins that are a machine's agents.
func agentsOf(m *world.Machine) (pids []int) {
	for _, pid := range m.Processes() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(text), "\x00")
		if len(args) > 2 && filepath.Base(args[0]) == "standin" && args[1] == "agent" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// variable is one of a process's environment.
func variable(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if value, is := strings.CutPrefix(entry, name+"="); is {
			return value
		}
	}
	return ""
}

// hubStore is where a machine's hub has its streams.
func hubStore(m *world.Machine) string { return filepath.Join(m.State, "fleet", "hub", "jetstream") }

// emptyHub removes everything that a hub has of the fleet, as a new disk does. A person would look first whether
// the other two have all of it: with less the fleet could forget what it acknowledged.
func (s *stage) emptyHub(m *world.Machine) error {
	if err := s.awaitWhole(); err != nil {
		return err
	}
	return s.withoutHub(m, syscall.SIGKILL, func() error {
		parts, err := filepath.Glob(filepath.Join(hubStore(m), "*")) // the directory may be a disk of its own
		for _, part := range parts {
			err = errors.Join(err, os.RemoveAll(part))
		}
		return err
	})
}

// withoutHub ends a machine's hub by a signal, and does something before it is started again.
func (s *stage) withoutHub(m *world.Machine, signal syscall.Signal, do func() error) error {
	if err := m.Daemon().Signal(syscall.SIGSTOP); err != nil { // it starts the hub again at once
		return err
	}
	defer func() { _ = m.Daemon().Signal(syscall.SIGCONT) }()
	if err := s.signalHub(m, signal); err != nil {
		return err
	}
	for len(hubs(m)) > 0 {
		if err := pause.For(s.ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return do()
}

// awaitNamed waits until stopgate fleet doctor names a machine's hub as one whose copy is damaged. Damage of the last
// message a hub finds itself when it starts: it says so in its log, and gets it from the others.
func (s *stage) awaitNamed(m *world.Machine, before int) error {
	ctx, cancel := context.WithTimeout(s.ctx, 3*time.Minute)
	defer cancel()
	hub, last := member.HubName(m.Number+1), ""
	for range pause.Doubling(ctx, 100*time.Millisecond, 2*time.Second) {
		if s.foundItself(m) > before {
			s.Logf("%s found it when it started", hub)
			s.noteFlip(foundByHub)
			return nil
		}
		last, _ = m.Run(s.ctx, "stopgate", "fleet", "doctor") // it fails when it finds something
		for line := range strings.Lines(last) {
			if strings.Contains(line, hub) && strings.Contains(line, "damaged") {
				s.Log(strings.TrimSpace(line))
				s.noteFlip(foundByDoctor)
				return nil
			}
		}
	}
	s.Logf("the flipped bit of %s is not named:\n%s", m.Name, last)
	s.noteFlip(notFound)
	return s.ctx.Err()
}

// How a flipped bit was found.
const (
	foundByDoctor = "named by fleet doctor"
	foundByHub    = "found by the hub when it started"
	notFound      = "not named within three minutes"
)

func (s *stage) noteFlip(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flips[how]++
}

// flipBit flips one bit of what a hub has of the fleet's store. The hub is ended in good order for that: one that was
// killed reads the newest of its files at its next start, and gets from the others what it cannot read; one that runs
// has those in memory.
func (s *stage) flipBit(m *world.Machine, pick uint64) error {
	if err := s.awaitWhole(); err != nil {
		return err
	}
	before := s.foundItself(m)
	if err := s.withoutHub(m, syscall.SIGTERM, func() error { return s.flipBitIn(hubStore(m), pick) }); err != nil {
		return err
	}
	return s.awaitNamed(m, before)
}

// foundItself is how often a machine's hub has found damage when it started, by its log.
func (s *stage) foundItself(m *world.Machine) int {
	text, _ := os.ReadFile(filepath.Join(m.State, "logs", "hub.log")) // there may be none yet
	return bytes.Count(text, []byte("Recovering stream state from index errored"))
}

func (s *stage) flipBitIn(dir string, pick uint64) error {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".blk" && strings.Contains(path, "/SG_") && !strings.Contains(path, "-snapshots") && strings.Contains(path, "/msgs/") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		return fmt.Errorf("nothing to flip a bit of in %s: %w", dir, err)
	}
	f, err := os.OpenFile(files[pick%uint64(len(files))], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return fmt.Errorf("%s is empty: %w", f.Name(), err)
	}
	at := int64(pick>>16) % info.Size()
	if at < 0 {
		at = -at
	}
	var one [1]byte
	if _, err := f.ReadAt(one[:], at); err != nil {
		return err
	}
	one[0] ^= 1 << (pick >> 8 & 7)
	_, err = f.WriteAt(one[:], at)
	s.Logf("bit %d of byte %d of %s is flipped", pick>>8&7, at, f.Name())
	return err
}
