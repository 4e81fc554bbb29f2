package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet"
	"github.com/stopgate/stopgate/internal/control/fleet/anchor"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// newFleet is this machine's part in the fleet that it is or may come to be in.
func (d *daemon) newFleet(p *plane) *fleet.Fleet {
	dialer := &member.Dialer{StateDir: d.StateDir, Log: d.Log}
	return fleet.New(fleet.Options{
		Version: d.Version, Plane: p, Handler: api.New(p, d.Version),
		Config: d.config.now, Log: d.Log, Now: d.Now, Dial: dialer.Dial, Trouble: dialer.Trouble, Room: p.jobRoom, Changed: d.core.news.Ring,
		Self: func() (name, me string) {
			id, err := member.Load(d.StateDir)
			if err != nil {
				return "", ""
			}
			return id.Fleet, id.Name
		},
		Members: d.fleetMembers,
		Jobs: func(ctx context.Context, l *link.Link) {
			var both sync.WaitGroup
			both.Go(func() { d.anchor(ctx, l) })
			d.desk.Run(ctx, l, peers{d.fleet.Load()})
			both.Wait()
		},
		Passed: d.desk.Passed,
	})
}

// mayRun is why a job is not to be run here; nil where it is.
func (d *daemon) mayRun(j job.Job) error {
	part := d.fleet.Load()
	name := part.Status().Name
	return part.MayRun(j.By, func(key string) error { return member.CheckSignature(key, j.Signed(name), j.Signature) })
}

// anchor keeps in the fleet how far the store has come, where the store can tell.
func (d *daemon) anchor(ctx context.Context, l *link.Link) {
	s, ok := d.store.(anchor.Store)
	if !ok {
		return
	}
	keeper := &anchor.Keeper{Store: s, Last: d.core.position, Log: d.Log, Now: d.Now}
	keeper.Run(ctx, l)
}

// peers are the machines of the fleet, as its jobs see them.
type peers struct{ fleet *fleet.Fleet }

func (p peers) Peers() []daemonapi.FleetMember { return p.fleet.Status().Members }

func (p peers) Passed(member string) map[string]string {
	observer := p.fleet.Observer()
	if observer == nil {
		return nil
	}
	b, _ := observer.Beat(member)
	return b.Passed
}

// fleetMembers are the machines by the fleet's records.
func (d *daemon) fleetMembers(ctx context.Context, l *link.Link) ([]member.Record, error) {
	id, err := member.Load(d.StateDir)
	if err != nil {
		return nil, err
	}
	records, err := id.Members(ctx, l.Log)
	return slices.DeleteFunc(records, func(r member.Record) bool { return r.Left }), err
}

// joinFleet has this machine be a member of its fleet, and its hub run, whenever it is in one.
func (d *daemon) joinFleet(ctx context.Context, all *sync.WaitGroup) {
	keeper := hub.Keeper{
		StateDir: d.StateDir, Environ: d.Environ, Log: d.Log,
		Program: func() (string, error) { return program.Find("stopgated", d.Environ) },
	}
	if _, err := member.Load(d.StateDir); errors.Is(err, member.ErrNone) {
		d.comebacks.releaseAll() // the fleet of these jobs was left
	}
	all.Go(func() { d.fleet.Load().Run(ctx) })
	all.Go(func() { d.desk.Guard(ctx) })
	all.Go(func() { keeper.Run(ctx) })
}

// jobRoom is how many agents run, and how many more jobs there is room for.
func (p *plane) jobRoom() (agents, room int) {
	return p.Status(context.Background()).Agents, (&machine{plane: p}).Room()
}

// fleetSite is the plane that pages show: with the work of other machines, and sessions, gates and projects of
// this one.
type fleetSite struct {
	*fleet.Plane
	web.Machine
}
