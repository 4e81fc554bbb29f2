//go:build unix

package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
)

// fleetAppends measures how fast the fleet's store makes events durable on three hubs, over TLS.
func fleetAppends(ctx context.Context, l *lab, r *report) (err error) {
	f, err := l.fleet(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	r.table("**Durable appends in a fleet**: each event synced on most of three hubs before it is acknowledged, 500 bytes, over one connection")
	data := make([]byte, 500)
	for i := range data {
		data[i] = 'x'
	}
	for _, writers := range []int{1, 64} {
		if err := f.appendsBy(ctx, r, writers, data); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) appendsBy(ctx context.Context, r *report, writers int, data []byte) error {
	rounds, each := 8, 200
	if writers > 1 {
		each = 40
	}
	hubs := f.hubs()
	busy, appended := spentBy(hubs), 0
	versions := make([]store.Position, writers)
	var s series
	for range rounds {
		begun := time.Now()
		var all errgroup.Group
		for w := range writers {
			all.Go(func() (err error) {
				subject := link.Job(fmt.Sprintf("bench-%d-%d", writers, w))
				for n := 0; n < each && err == nil; n++ {
					versions[w], err = f.link.Log.Append(ctx, store.NewEvent{Subject: subject, ID: fmt.Sprintf("%08d%024d", w, versions[w]), Expected: versions[w], Data: data})
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			return err
		}
		s.add(time.Since(begun), 0)
		appended += writers * each
	}
	busy = spentBy(hubs) - busy
	hands := "1 writer"
	if writers > 1 {
		hands = fmt.Sprintf("%d writers", writers)
	}
	perEvent := s.median().Seconds() * 1e6 / float64(writers*each)
	r.row(fmt.Sprintf("three hubs, %s, %.0f events a second", hands, 1e6/perEvent), &s, figure{perEvent, "µs an event", 0})
	r.measure(fmt.Sprintf("%s: processor time of all hubs", hands), figure{busy.Seconds() * 1e6 / float64(appended), "µs an event", 0})
	return nil
}
