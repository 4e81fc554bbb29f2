package fleet

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// kinds are the commands of local owners whose agents are stand-ins.
var kinds = []string{"steps", "talks", "asks", "told", "idles"}

// run keeps the machines at work until there has been enough of it and the faults are over.
func (s *stage) run(over <-chan struct{}) {
	var all sync.WaitGroup
	for i := range s.size.owners {
		m := s.Machines[i%len(s.Machines)]
		all.Go(func() { s.oneByOne(m, kinds, i, over) })
	}
	all.Wait()
}

// oneByOne runs owners of some kinds on a machine, one after the other.
func (s *stage) oneByOne(m *world.Machine, kinds []string, first int, over <-chan struct{}) {
	for i := first; s.ctx.Err() == nil; i++ {
		if err := s.live(m, kinds[i%len(kinds)]); err != nil {
			s.Error(err)
			return
		}
		select {
		case <-over:
			return
		default:
		}
	}
}

// live has an owner come to its end.
func (s *stage) live(m *world.Machine, kind string) error {
	id, root := s.newID(), s.root(m)
	s.mu.Lock()
	s.owners[id] = owner{kind, m.Number}
	s.mu.Unlock()
	err := insist(s.ctx, func() error {
		_, err := m.Client.Start(s.ctx, daemonapi.Start{ID: id, Project: root, Cwd: root, Command: kind})
		return err
	})
	if err != nil {
		return fmt.Errorf("start %s on %s: %w", kind, m.Name, err)
	}
	s.acknowledged("start", id, "")

	for {
		var o daemonapi.Owner
		err := insist(s.ctx, func() (err error) {
			o, err = m.Client.Owner(s.ctx, id)
			return err
		})
		switch {
		case err != nil:
			return fmt.Errorf("%s %s on %s (%s in %s): %w", kind, id, m.Name, o.Status, o.Step, err)
		case o.Status == "done":
			return nil
		case o.Status == "failed": // what it ran ended with its machine
			if err := s.resume(m, o); err != nil {
				return err
			}
		case o.Status == "cancelled":
			return fmt.Errorf("%s %s on %s is cancelled: %s", kind, id, m.Name, o.Error)
		}
		if err := pause.For(s.ctx, 300*time.Millisecond); err != nil {
			return fmt.Errorf("%s %s on %s is %s in %s: %w", kind, id, m.Name, o.Status, o.Step, err)
		}
	}
}

// resume lets an owner go on that has failed.
func (s *stage) resume(m *world.Machine, o daemonapi.Owner) error {
	err := insist(s.ctx, func() error {
		_, err := m.Client.Resume(s.ctx, o.ID, daemonapi.Resume{ID: daemonapi.NewID()})
		return err
	})
	if err != nil {
		return fmt.Errorf("resume %s on %s: %w", o.ID, m.Name, err)
	}
	return nil
}

// responsible is the machine at which a person sees to something: any, by its id.
func (s *stage) responsible(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(len(s.Machines)))
}

// people answer and write, each at a machine of their own, until the context ends.
func (s *stage) people(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range s.Machines {
		all.Go(func() { newPerson(s, m).work(ctx) })
	}
	all.Wait()
}
