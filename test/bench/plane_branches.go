//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// branchesBook has a pipeline of three branches, each a command that waits for the gate to open.
const branchesBook = `
[command.wide]
run = { pipeline = "wide" }

[[pipeline.wide.step]]
name = "all"

[[pipeline.wide.step.parallel]]
name = "a"
run = "echo >> begun; cat gate"

[[pipeline.wide.step.parallel]]
name = "b"
run = "echo >> begun; cat gate"

[[pipeline.wide.step.parallel]]
name = "c"
run = "echo >> begun; cat gate"
`

// branches measures what a pipeline of three branches costs when 1,000 of them run at once, against
// 100, with the real daemon and real commands.
func branches(ctx context.Context, l *lab, r *report) error {
	const few, many, limit = 100, 1000, 1.5
	var all [2]crowded
	for i, n := range []int{few, many} {
		var err error
		if all[i], err = l.crowd(ctx, n); err != nil {
			return err
		}
	}
	r.table("**Pipelines of three branches at once**, from the first start to the last end: all branches of all of them run together")
	for i, n := range []int{few, many} {
		c, each := all[i], func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(n) }
		of := func(f figure) figure { // against the few
			if i == 0 {
				f.limit = 0
			}
			return f
		}
		took := c.started + c.ended
		r.measure(fmt.Sprintf("%d pipelines: until all branches run, %.1f s, and until all are done, %.1f s more", n, c.started.Seconds(), c.ended.Seconds()), figure{each(took), "ms for each", 0})
		r.measure(fmt.Sprintf("%d pipelines, against %d", n, few), of(figure{each(took) / (float64((all[0].started + all[0].ended).Milliseconds()) / few), "times", limit}))
		r.measure(fmt.Sprintf("%d pipelines: processor time of the daemon and its commands", n), figure{each(c.busy), "ms for each", 0})
		r.measure(fmt.Sprintf("%d pipelines: memory of the daemon while all branches run", n), figure{c.resident / 1e6, "MB", 0})
	}
	return nil
}

// crowded is what many pipelines took.
type crowded struct {
	started, ended time.Duration
	busy           time.Duration // processor time of the daemon, and of the commands that it waited for
	resident       float64       // bytes of the daemon, while all run
}

// crowd runs so many pipelines at once.
func (l *lab) crowd(ctx context.Context, n int) (c crowded, err error) {
	name := "wide-" + strconv.Itoa(n)
	project, err := l.repository(ctx, name, 1, map[string]string{".gauntlet/runbooks/wide.toml": branchesBook})
	if err != nil {
		return c, err
	}
	state, err := l.state("s" + strconv.Itoa(n))
	if err != nil {
		return c, err
	}
	gate := filepath.Join(project, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		return c, err
	}
	daemon := exec.CommandContext(ctx, l.other, "daemon")
	daemon.Env = append(slices.Clone(l.env), "STOPGATE_STATE_DIR="+state)
	if err := daemon.Start(); err != nil {
		return c, err
	}
	client := stopgate.New(filepath.Join(state, "daemon.sock"), "bench")
	defer func() {
		_ = client.Stop(context.Background(), true)
		_ = daemon.Wait()
		c.busy = daemon.ProcessState.UserTime() + daemon.ProcessState.SystemTime()
	}()
	if err := until(ctx, "the daemon is ready", func() bool { _, err := client.Status(ctx); return err == nil }); err != nil {
		return c, err
	}
	return c, c.run(ctx, client, project, daemon.Process.Pid, n)
}

func (c *crowded) run(ctx context.Context, client *stopgate.Client, project string, daemon, n int) error {
	begun := time.Now()
	var starts errgroup.Group
	starts.SetLimit(32)
	for range n {
		starts.Go(func() error {
			_, err := client.Start(ctx, stopgate.Start{Project: project, Cwd: project, Command: "wide"})
			return err
		})
	}
	if err := starts.Wait(); err != nil {
		return err
	}
	if err := until(ctx, "all branches run", func() bool {
		text, _ := os.ReadFile(filepath.Join(project, "begun"))
		return bytes.Count(text, []byte("\n")) >= 3*n
	}); err != nil {
		return err
	}
	c.started, c.resident = time.Since(begun), residentOf(daemon)
	begun = time.Now()
	err := until(ctx, "all are done", func() bool {
		open, err := os.OpenFile(filepath.Join(project, "gate"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			_ = open.Close()
		}
		status, err := client.Status(ctx)
		return err == nil && status.Pipelines.Done == n
	})
	c.ended = time.Since(begun)
	return err
}

// residentOf is how many bytes of a process are in memory; zero where that is not known.
func residentOf(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kB float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kB); err == nil {
			return kB * 1e3
		}
	}
	return 0
}
