//go:build unix

// Package chaos kills the daemon, again and again, while pipelines and agents run, and
// then counts: everything must have ended as it would have without that, and nothing may
// have been done twice or left out beyond what the rules for effects allow.
//
// The small run is for CI; make chaos is the full one. STOPGATE_SEED gives the moments of
// an earlier run again, as far as the machine does.
package chaos

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

// size is how much chaos there is.
type size struct {
	kills   int
	at      int    // once, so many owners run
	work    string // the longest that a stand-in works
	timeout time.Duration
}

func sizeOfRun() size {
	if os.Getenv("STOPGATE_FULL") != "" {
		return size{100, 50, "3s", 20 * time.Minute}
	}
	return size{10, 12, "600ms", 2 * time.Minute}
}

func TestChaos(t *testing.T) {
	n, s := sizeOfRun(), seedtest.Seed(t)
	t.Logf("%d kills, %d owners at once", n.kills, n.at)
	bin := build(t)
	calm := newRun(t, bin, s, n)
	calm.each()
	calm.finish(t)
	if t.Failed() {
		t.FailNow()
	}
	wild := newRun(t, bin, s, n)
	wild.storm(n)
	wild.finish(t)
	if t.Failed() {
		return
	}
	for id, o := range wild.ends {
		if diff := cmp.Diff(calm.byKind[o.Command], details(o)); diff != "" {
			t.Errorf("%s %s did not end as without kills (-calm +wild):\n%s", o.Command, id, diff)
		}
	}
}

// run is one daemon's worth of owners.
type run struct {
	*testing.T
	*keeper
	person *person
	ctx    context.Context
	rng    *rand.Rand
	ids    *rand.Rand

	mu     sync.Mutex
	owners map[string]kind
	ends   map[string]daemonapi.Owner
	byKind map[string]string
}

func newRun(t *testing.T, bin string, seed uint64, n size) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), n.timeout)
	t.Cleanup(cancel)
	r := &run{
		T: t, ctx: ctx, rng: rand.New(rand.NewPCG(seed, 1)), ids: rand.New(rand.NewPCG(seed, 2)),
		owners: map[string]kind{}, ends: map[string]daemonapi.Owner{}, byKind: map[string]string{},
	}
	r.keeper = newKeeper(newPlace(t, bin, runbookText, strconv.FormatUint(seed, 10), n.work), rand.New(rand.NewPCG(seed, 3)))
	_, err := r.start()
	check(t, err)
	t.Cleanup(r.end)
	r.person = newPerson(r.keeper, func(err error) {
		t.Error(err)
		cancel()
	})
	return r
}

// owner makes an owner of a kind.
func (r *run) owner(k kind) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], r.ids.Uint64())
	id = hex.EncodeToString(b[:])
	r.owners[id] = k
	return id
}

// watched does something while a person looks.
func (r *run) watched(do func()) {
	ctx, cancel := context.WithCancel(r.ctx)
	var looking sync.WaitGroup
	looking.Go(func() { r.person.look(ctx) })
	do()
	r.person.busy.Wait()
	cancel()
	looking.Wait()
}

func (r *run) live(k kind) {
	if err := r.person.run(r.ctx, r.owner(k), k); err != nil {
		r.Error(err)
	}
}

// each runs one owner of each kind.
func (r *run) each() {
	r.watched(func() {
		var all sync.WaitGroup
		for _, k := range kinds() {
			all.Go(func() { r.live(k) })
		}
		all.Wait()
	})
}

// storm keeps so many owners running while the daemon is killed.
func (r *run) storm(n size) {
	r.watched(func() {
		over := make(chan struct{})
		var all sync.WaitGroup
		for i := range n.at {
			all.Go(func() { r.oneByOne(i, over) })
		}
		if err := r.killAll(r.ctx, n.kills); err != nil {
			r.person.fail(err)
		}
		close(over)
		all.Wait()
	})
}

// oneByOne runs owners of all kinds, one after the other.
func (r *run) oneByOne(first int, over <-chan struct{}) {
	all := kinds()
	for i := first; r.ctx.Err() == nil; i++ {
		select {
		case <-over:
			return
		default:
			r.live(all[i%len(all)])
		}
	}
}

// finish sees how everything ended, ends the daemon and does the audit.
func (r *run) finish(t *testing.T) {
	t.Helper()
	if t.Failed() {
		t.FailNow()
	}
	for id, k := range r.owners {
		r.drain(id)
		o, err := r.client.Owner(r.ctx, id)
		check(t, err)
		if got := ending(o); got != k.end {
			t.Errorf("%s %s: %s; want %s (%s)", k.name, id, got, k.end, o.Error)
		}
		r.ends[id], r.byKind[k.name] = o, details(o)
	}
	status, err := r.client.Status(r.ctx)
	check(t, err)
	if len(status.Trouble) > 0 || status.Agents+status.Decisions > 0 {
		t.Errorf("%+v", status)
	}
	check(t, r.stop(r.ctx))
	a := newAudit(t, r.keeper)
	a.all()
	a.workspaces(r.owners)
	var table strings.Builder
	a.print(&table)
	starting := 0
	for _, k := range r.kills {
		if !k.ready {
			starting++
		}
	}
	t.Logf("%d kills, %d of them before the daemon was ready; %d owners, %d events, %d steps found late, decisions %v\n%s",
		len(r.kills), starting, len(r.owners), a.Events, a.Late, a.Decisions, table.String())
}

// drain waits until nothing is left to do for an owner: then its log ends.
func (r *run) drain(id string) {
	for _, err := range r.client.Log(r.ctx, id, true) {
		if err != nil && !errors.Is(err, context.Canceled) {
			r.Error(err)
		}
	}
}
