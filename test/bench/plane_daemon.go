//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/daemon"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// playDaemon is the daemon for a state directory, whose agents and commands are nobody's:
// those that run go on for ever. It says "ready", and what it is asked on its standard
// input, whose end ends it.
func playDaemon(args []string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return daemon.Run(ctx, daemon.Options{
		StateDir: args[0], Config: filepath.Join(args[0], "none.yml"), Version: "bench", Stopgate: "none",
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), Now: time.Now,
		Ready: func(err error) {
			if err == nil {
				fmt.Println("ready")
				go answer(os.Stdin, cancel)
			}
		},
		OpenStore: func(ctx context.Context, path string) (store.Store, error) { return sqlite.Open(ctx, path) },
		Shells:    noShells{}, Agents: noAgents{}, Notifier: nobody{},
	})
}

func answer(questions io.Reader, end func()) {
	defer end()
	for lines := bufio.NewScanner(questions); lines.Scan(); {
		heap, resident := memoryInUse()
		fmt.Println(heap, resident)
	}
}

// memoryInUse is how many bytes the program's values and stacks take, and how many of all
// its pages are in memory; zero where that is not known.
func memoryInUse() (heap, resident uint64) {
	runtime.GC()
	debug.FreeOSMemory()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	var size, pages uint64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		_, _ = fmt.Sscan(string(text), &size, &pages)
	}
	return samples[0].Value.Uint64() + samples[1].Value.Uint64(), pages * uint64(os.Getpagesize())
}

// noShells are commands that run for ever.
type noShells struct{}

func (noShells) Start(context.Context, *engine.Owner, string, engine.ShellStart) error { return nil }

func (noShells) Kill(context.Context, string) error { return nil }

func (noShells) Wait(ctx context.Context, _ string) (errand.Result, error) {
	<-ctx.Done()
	return errand.Result{}, ctx.Err()
}

// noAgents are agents that run for ever, and listen to nobody.
type noAgents struct{ noShells }

func (noAgents) Start(context.Context, *engine.Owner, engine.AgentStart) error { return nil }
func (noAgents) Send(context.Context, string, string, string) error            { return nil }

type nobody struct{}

func (nobody) Held(*engine.Owner) time.Duration                           { return 0 }
func (nobody) Notify(context.Context, *engine.Owner, engine.Effect) error { return nil }

// ownDaemon is a daemon that runs in a process of its own.
type ownDaemon struct {
	*stopgate.Client
	state   string
	journal *journal.Journal
	cmd     *exec.Cmd
	asks    io.WriteCloser
	says    *bufio.Reader
}

// state makes a state directory. Its name is short, for the socket in it.
func (l *lab) state(name string) (string, error) {
	dir := l.path(name)
	return dir, os.Mkdir(dir, 0o700)
}

func database(state string) string { return filepath.Join(state, "stopgate.db") }

// journalOf is a state directory's journal, of which nothing is deleted.
func journalOf(state string) *journal.Journal {
	return journal.New(filepath.Join(state, "journal"), journal.Limits{MaxSize: 8 << 30, SegmentSize: 16 << 20})
}

// startDaemon starts a daemon, and tells how long it took to be ready.
func (l *lab) startDaemon(ctx context.Context, state string) (p *ownDaemon, took time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	p = &ownDaemon{state: state, journal: journalOf(state), Client: stopgate.New(filepath.Join(state, "daemon.sock"), "bench")}
	p.cmd = exec.CommandContext(ctx, self, "stand-in-daemon", state)
	p.cmd.Env, p.cmd.Stderr = l.env, os.Stderr
	if p.asks, err = p.cmd.StdinPipe(); err != nil {
		return nil, 0, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	p.says = bufio.NewReader(out)
	begun := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, 0, err
	}
	line, err := p.says.ReadString('\n')
	took = time.Since(begun)
	if line != "ready\n" {
		p.kill()
		return nil, 0, errors.Join(fmt.Errorf("the daemon said %q", line), err)
	}
	return p, took, nil
}

// memory asks the daemon how much it uses.
func (p *ownDaemon) memory() (heap, resident uint64, err error) {
	if _, err := io.WriteString(p.asks, "memory\n"); err != nil {
		return 0, 0, err
	}
	line, err := p.says.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(strings.TrimSpace(line), &heap, &resident)
	}
	return heap, resident, err
}

// end lets the daemon end as it should, with a snapshot.
func (p *ownDaemon) end() error {
	return errors.Join(p.asks.Close(), p.cmd.Wait())
}

// kill ends the daemon so that nothing is saved any more.
func (p *ownDaemon) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	_ = p.cmd.Wait()
}
