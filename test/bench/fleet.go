//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// fleetName and fleetProject are what the fleet and its project are called.
const (
	fleetName    = "bench"
	fleetProject = "bench"
)

// fleetBook has a job that does nothing, and a question.
const fleetBook = `
[command.nothing]
run = { pipeline = "nothing" }

[[pipeline.nothing.step]]
name = "only"
run = "true"

[command.question]
run = { pipeline = "question" }

[[pipeline.question.step]]
name = "only"
approval = { title = "Go on?" }
`

// fleet is three machines with a hub and a daemon each.
type fleet struct {
	*world.World
	link *link.Link // of the first one
}

// fleet makes a fleet by the commands that people use.
func (l *lab) fleet(ctx context.Context) (f *fleet, err error) {
	w, err := world.New(world.Options{Bin: filepath.Dir(l.stopgate), Machines: 3, Network: world.Direct})
	if err != nil {
		return nil, err
	}
	f = &fleet{World: w}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	for _, m := range w.Machines {
		if err := furnish(ctx, m); err != nil {
			return nil, err
		}
	}
	if err := w.Found(ctx, fleetName); err != nil {
		return nil, err
	}
	if err := until(ctx, "the machines answer each other", func() bool { return f.answers(ctx) }); err != nil {
		return nil, err
	}
	f.link, err = f.connect(ctx, w.Machines[0].State)
	return f, err
}

// furnish gives a machine a project, and starts its daemon.
func furnish(ctx context.Context, m *world.Machine) error {
	project := filepath.Join(m.Home, "project")
	err := errors.Join(
		m.Write("project/.gauntlet/runbooks/bench.toml", fleetBook),
		m.Write(".config/agent-gauntlet/config.yml", fmt.Sprintf("fleet:\n  projects:\n    - name: %s\n      path: %s\n", fleetProject, project)),
	)
	if err != nil {
		return err
	}
	if _, err := m.Run(ctx, "sh", "-c", "cd project && git init -q && stopgate trust --yes"); err != nil {
		return err
	}
	life, err := m.StartDaemon("stopgated")
	if err != nil {
		return err
	}
	return life.Await(ctx)
}

// answers reports whether the first machine is answered by the others, and all of them take jobs.
func (f *fleet) answers(ctx context.Context) bool {
	for _, m := range f.Machines {
		if _, err := m.Client.Jobs(ctx, stopgate.Filter{}); err != nil {
			return false
		}
	}
	for _, m := range f.Machines[1:] {
		if _, err := f.Machines[0].Client.Pipelines(ctx, stopgate.Filter{Host: m.Name, Limit: 1}); err != nil {
			return false
		}
	}
	return true
}

// connect is a link of the member whose state directory that is.
func (f *fleet) connect(ctx context.Context, state string) (*link.Link, error) {
	id, err := member.Load(state)
	if err != nil {
		return nil, err
	}
	nc, err := member.Connect(ctx, state, id)
	if err != nil {
		return nil, err
	}
	l, err := link.Open(ctx, nc, id.Fleet, id.Name)
	if err != nil {
		nc.Close()
	}
	return l, err
}

func (f *fleet) close() error {
	if f.link != nil {
		f.link.Conn.Close()
	}
	return f.Close()
}

// hubs are the processes of all hubs, and daemons those of all daemons.
func (f *fleet) hubs() []int    { return f.running("stopgated hub") }
func (f *fleet) daemons() []int { return f.running("stopgated daemon") }

func (f *fleet) running(words string) (pids []int) {
	for _, m := range f.Machines {
		pids = append(pids, m.Running(words)...)
	}
	return pids
}

// most is the memory of the largest of some processes, in MB.
func most(pids []int) (mb float64) {
	for _, pid := range pids {
		mb = max(mb, residentOf(pid)/1e6)
	}
	return mb
}

// spentBy is how much processor time processes have used in all; zero where that is not known.
func spentBy(pids []int) (busy time.Duration) {
	for _, pid := range pids {
		busy += busyOf(pid)
	}
	return busy
}
