package view

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// shown is a machine's source in a test.
type shown struct {
	mu     sync.Mutex
	owners map[string]daemonapi.Owner
	mute   bool
	fail   error
}

func (s *shown) Shown(context.Context) (all []daemonapi.Owner, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.owners {
		all = append(all, o)
	}
	return all, s.fail
}

func (s *shown) Show(_ context.Context, id string) (o daemonapi.Owner, is bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, is = s.owners[id]
	return o, is, s.fail
}

func (s *shown) Words() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.mute
}

func (s *shown) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// both is a machine that shows itself and sees others.
type both struct {
	l *link.Link
	p *Publisher
	v *Others
}

func (b both) Begin()  { b.p.Begin(); b.v.Begin() }
func (b both) Caught() { b.p.Caught(); b.v.Caught() }
func (b both) Take(m link.Message) {
	member, owner, _ := Split(b.l.Names, m.Subject)
	if member == b.l.Member {
		b.p.Take(owner, m)
	} else {
		b.v.Take(member, owner, m.Data)
	}
}

// start has a machine show and see until the test ends.
func start(t *testing.T, l *link.Link, s Source) both {
	b := both{l, NewPublisher(s), NewOthers(func() {})}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			_ = b.l.Follow(ctx, b, l.AllViews()) // it is begun again
		}
	})
	all.Go(func() { b.p.Run(ctx, l, func(error) {}) })
	t.Cleanup(func() { cancel(); l.Conn.Close(); all.Wait() })
	return b
}

func one(i int, step string) daemonapi.Owner {
	return daemonapi.Owner{ID: fmt.Sprintf("%016x", i), Kind: "pipeline", Status: "running", Name: "build", Step: step, Reason: "because", Created: noon}
}

// steps are what a machine sees of vps, by owner.
func (b both) steps() string {
	steps := map[string]string{}
	for member, o := range b.v.All() {
		if member == "vps" {
			steps[o.ID[15:]] = o.Step + o.Reason
		}
	}
	return fmt.Sprint(steps)
}

func (b both) sees(t *testing.T, want string) {
	t.Helper()
	checktest.Eventually(t, "it sees "+want, func() bool { return b.steps() == want })
}

func TestAViewFollowsItsOwner(t *testing.T) {
	f := linktest.New(t)
	s := &shown{owners: map[string]daemonapi.Owner{}}
	vps, laptop := start(t, f.Member("vps"), s), start(t, f.Member("laptop"), &shown{})
	put := func(o daemonapi.Owner) {
		s.change(func() { s.owners[o.ID] = o })
		vps.p.Changed(o.ID)
	}
	put(one(1, "a"))
	put(one(2, "a"))
	laptop.sees(t, "map[1:abecause 2:abecause]")
	for i := range 100 { // the newest wins
		put(one(1, fmt.Sprint(i)))
	}
	laptop.sees(t, "map[1:99because 2:abecause]")
	s.change(func() { delete(s.owners, one(2, "").ID) })
	vps.p.Changed(one(2, "").ID)
	laptop.sees(t, "map[1:99because]")
	s.change(func() { s.mute = true })
	put(one(3, "b"))
	laptop.sees(t, "map[1:99 3:b]")
}

// After a link was made, the servers have exactly what the machine shows.
func TestIssue20ViewsAreRepaired(t *testing.T) {
	f := linktest.New(t)
	before := f.Member("vps")
	for i, text := range map[int]string{1: "damaged", 2: string(encode(t, one(2, "old"))), 3: string(encode(t, one(3, "gone")))} {
		_, err := before.JS.Publish(t.Context(), before.View("vps", one(i, "").ID), []byte(text))
		check(t, err)
	}
	laptop := start(t, f.Member("laptop"), &shown{})
	laptop.sees(t, "map[2:oldbecause 3:gonebecause]")
	s := &shown{owners: map[string]daemonapi.Owner{}}
	for _, o := range []daemonapi.Owner{one(1, "a"), one(2, "b"), one(4, "c")} {
		s.owners[o.ID] = o
	}
	vps := start(t, f.Member("vps"), s)
	laptop.sees(t, "map[1:abecause 2:bbecause 4:cbecause]")

	// Hubs that lost everything have it again soon.
	js := before.JS
	check(t, js.DeleteStream(t.Context(), before.ViewStream()))
	check(t, link.Make(t.Context(), f.Dial(), linktest.Name, 1))
	checktest.Eventually(t, "the views are there again", func() bool {
		info, err := before.Views.Info(t.Context())
		return err == nil && info.State.Msgs >= 3
	})
	laptop.sees(t, "map[1:abecause 2:bbecause 4:cbecause]")
	checktest.Eventually(t, "it takes the servers to have 3 views", func() bool {
		n, caught := vps.p.Held()
		return n == 3 && caught
	})
}

func encode(t *testing.T, o daemonapi.Owner) []byte {
	t.Helper()
	text, err := Encode(o, true)
	check(t, err)
	return text
}

// Held is how many views the servers have of this machine, as far as is known.
func (p *Publisher) Held() (n int, caught bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.held {
		if !h.empty {
			n++
		}
	}
	return n, p.caught
}
