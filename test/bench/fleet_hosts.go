//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/fleet/view"
)

// fleetHosts measures what 200 machines more cost the hubs and a daemon that shows them all. Each beats as a real one
// does, and one of its 15 pipelines changes each second.
func fleetHosts(ctx context.Context, l *lab, r *report) error {
	const hosts, owners, lasts = 200, 15, 20 * time.Second
	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	hubs, daemon := f.hubs(), f.Machines[0].Running("stopgated daemon")
	alone, aloneDaemon := most(hubs), most(daemon)

	begun := time.Now()
	links, err := f.crowd(ctx, hosts)
	defer func() {
		for _, link := range links {
			link.Conn.Close()
		}
	}()
	if err != nil {
		return err
	}
	joined := time.Since(begun)

	c := newShow(links, owners)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range links {
		all.Go(func() { c.play(ctx, i) })
	}
	if err := until(ctx, "the daemon shows all machines", func() bool {
		fleet, err := f.Machines[0].Client.Fleet(ctx)
		return err == nil && len(fleet.Members) == hosts+3 && c.views.Load() > int64(hosts*owners/10)
	}); err != nil {
		return err
	}

	beats, views := c.beats.Load(), c.views.Load()
	busy, busyDaemon := spentBy(hubs), spentBy(daemon)
	select {
	case <-time.After(lasts):
	case <-ctx.Done():
		return ctx.Err()
	}
	perSecond := func(n int64) float64 { return float64(n) / lasts.Seconds() }
	cores := func(d time.Duration) float64 { return 100 * d.Seconds() / lasts.Seconds() }

	r.table("**200 machines more**, each with a beat every 3 s and a change of one of its 15 pipelines each second, for 20 s")
	r.measure(fmt.Sprintf("%d machines join one after the other", hosts), figure{joined.Seconds() * 1e3 / hosts, "ms for each", 0})
	r.measure("beats acknowledged", figure{perSecond(c.beats.Load() - beats), "a second", 0})
	r.measure("views acknowledged", figure{perSecond(c.views.Load() - views), "a second", 0})
	took := c.latency()
	r.row("a view until it is acknowledged", took, took.both())
	r.measure("processor time of the three hubs", figure{cores(spentBy(hubs) - busy), "% of a core", 0})
	r.measure("processor time of a daemon that shows them all", figure{cores(spentBy(daemon) - busyDaemon), "% of a core", 0})
	r.measure(fmt.Sprintf("memory of a hub, before %.1f MB", alone), figure{most(hubs), "MB", 0})
	r.measure(fmt.Sprintf("memory of a daemon that shows them all, before %.1f MB", aloneDaemon), figure{most(daemon), "MB", 0})
	if c.failed.Load() > 0 {
		return fmt.Errorf("%d beats and views were not acknowledged", c.failed.Load())
	}
	return nil
}

// crowd has so many machines join, which are links of this process.
func (f *fleet) crowd(ctx context.Context, hosts int) (links []*link.Link, err error) {
	id, err := member.Load(f.Machines[0].State)
	if err != nil {
		return nil, err
	}
	for i := range hosts {
		by := f.Machines[i%len(f.Machines)] // a hub has 200 invitations at most
		state := filepath.Join(f.Dir, "crowd", fmt.Sprint(i))
		if err := os.MkdirAll(state, 0o700); err != nil {
			return links, err
		}
		token, _, err := hub.Invite(ctx, by.State, id.User, false, time.Now())
		if err != nil {
			return links, err
		}
		if _, err := member.Join(ctx, state, token, fmt.Sprintf("crowd-%d", i)); err != nil {
			return links, err
		}
	}
	links = make([]*link.Link, hosts)
	var all errgroup.Group
	all.SetLimit(16)
	for i := range hosts {
		all.Go(func() (err error) {
			links[i], err = f.connect(ctx, filepath.Join(f.Dir, "crowd", fmt.Sprint(i)))
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return links, nil
}

// show is what the machines of a crowd show.
type show struct {
	links  []*link.Link
	owners [][]stopgate.Owner

	beats, views, failed atomic.Int64

	mu   sync.Mutex
	took series
}

func newShow(links []*link.Link, owners int) *show {
	s := &show{links: links, owners: make([][]stopgate.Owner, len(links))}
	for i := range links {
		for n := range owners {
			s.owners[i] = append(s.owners[i], stopgate.Owner{
				ID: fmt.Sprintf("%08x%08x", i, n), Kind: "pipeline", Name: "fix", Project: "/home/ada/shop", Command: "fix",
				Status: "running", Step: "work", Created: time.Now(), Updated: time.Now(),
			})
		}
	}
	return s
}

// play is one machine.
func (s *show) play(ctx context.Context, i int) {
	heart := beat.NewHeart(func() beat.Beat { return beat.Beat{Version: "bench", Labels: []string{"bench"}, Agents: 3, Room: 5} })
	var both sync.WaitGroup
	both.Go(func() {
		heart.Run(ctx, s.links[i], func(err error) { s.count(ctx, &s.beats, err) })
	})
	both.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := 0; ; n++ {
			s.view(ctx, i, n)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	both.Wait()
}

// view publishes the change of one pipeline.
func (s *show) view(ctx context.Context, i, n int) {
	o := s.owners[i][n%len(s.owners[i])]
	o.Step, o.Updated = fmt.Sprintf("step-%d", n), time.Now()
	text, err := view.Encode(o, true)
	begun := time.Now()
	if err == nil {
		_, err = s.links[i].JS.Publish(ctx, s.links[i].View(s.links[i].Member, o.ID), text)
	}
	s.count(ctx, &s.views, err)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.took.add(time.Since(begun), 0)
	}
}

func (s *show) count(ctx context.Context, of *atomic.Int64, err error) {
	switch {
	case err == nil:
		of.Add(1)
	case ctx.Err() == nil && !errors.Is(err, context.Canceled):
		s.failed.Add(1)
	}
}

func (s *show) latency() *series {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &series{times: append([]time.Duration{}, s.took.times...)}
}
