package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/claim/claimtest"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

const one = "0000000000000001"

var quiet = slog.New(slog.DiscardHandler)

// desktop is a desk of a test with its machine. It does its part when it is told to.
type desktop struct {
	*Desk
	*claimtest.Yard
	t      testing.TB
	name   string
	member *claim.Member
	deaths *deaths
	board  *board.Board
}

// world is how the members of a fleet stand, as all of them see it.
type world struct {
	mu     sync.Mutex
	peers  []daemonapi.FleetMember
	passed map[string]map[string]string
}

func (w *world) set(name, state string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.peers, func(p daemonapi.FleetMember) bool { return p.Name == name })
	if i < 0 {
		w.peers = append(w.peers, daemonapi.FleetMember{Name: name, Projects: []string{"shop"}, Room: 1})
		i = len(w.peers) - 1
	}
	w.peers[i].State = state
}

func (w *world) remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers = slices.DeleteFunc(w.peers, func(p daemonapi.FleetMember) bool { return p.Name == name })
}

func (w *world) Passed(member string) map[string]string { return w.passed[member] }

func (w *world) Peers() []daemonapi.FleetMember {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.peers)
}

// options are those of a desk of a test.
func options(y *claimtest.Yard) Options {
	return Options{
		Machine: y, News: func() {}, Log: quiet, Now: time.Now, Sign: func([]byte) ([]byte, error) { return nil, nil },
		Unheard: func() (time.Duration, bool) { return 0, true },
		Check:   func(string, string, []string) error { return nil },
		Name:    func(root string) string { return strings.TrimPrefix(strings.TrimPrefix(root, "/src/"), "/") },
	}
}

func newDesktop(t testing.TB, f *linktest.Fleet, w *world, name string, room int) *desktop {
	t.Helper()
	y := claimtest.New(room)
	d := New(options(y))
	l := f.Member(name)
	b, err := board.Open(t.Context(), l.Log, name, time.Now, quiet)
	check(t, err)
	member := &claim.Member{Name: name, Board: b, Machine: y, Log: quiet, Now: time.Now}
	d.set(&session{l, b, member, w})
	w.set(name, "up")
	return &desktop{
		Desk: d, Yard: y, t: t, name: name, board: b, member: member,
		deaths: &deaths{desk: d, member: name, board: b, peers: w.Peers, missing: map[string]time.Time{}, stopped: map[string]time.Time{}},
	}
}

// reads has the desk know what the others did about a job.
func (d *desktop) reads(id string) *desktop {
	d.t.Helper()
	check(d.t, d.board.Fresh(d.t.Context(), id))
	return d
}

// works has the desk do its part.
func (d *desktop) works() {
	for range 3 {
		d.member.Look(d.t.Context())
	}
}

func (d *desktop) add(spec daemonapi.AddJob) {
	d.t.Helper()
	spec.ID, spec.Project, spec.Command = one, "/src/shop", "fix"
	_, err := d.AddJob(d.t.Context(), spec)
	check(d.t, err)
}

// held is what jobs hold of the default cap, as the fleet has it.
func (d *desktop) held() map[string]job.Reservation {
	d.t.Helper()
	b, err := board.Open(d.t.Context(), d.now.link.Log, "reader", time.Now, quiet)
	check(d.t, err)
	return b.Cap(board.DefaultCap).Held
}

// is checks what a job's status is, as the fleet has it.
func (d *desktop) is(status, host string) daemonapi.Job {
	d.t.Helper()
	d.reads(one)
	j, err := d.Job(d.t.Context(), one)
	check(d.t, err)
	if j.Status != status || j.Host != host {
		d.t.Fatalf("the job is %s on %s, not %s on %s: %+v", j.Status, j.Host, status, host, j)
	}
	return j
}

// Two daemons that are linked: one adds a job, the other does it, and both see its end.
func TestIssue20TwoDesksShareJobs(t *testing.T) {
	f := linktest.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w := &world{}
	desks, yards, wakes := map[string]*Desk{}, map[string]*claimtest.Yard{}, map[string]chan struct{}{}
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for name, room := range map[string]int{"laptop": 0, "vps": 1} {
		yards[name], wakes[name] = claimtest.New(room), make(chan struct{}, 1)
		o := options(yards[name])
		o.Wake = wakes[name]
		d, l := New(o), f.Member(name)
		desks[name] = d
		w.set(name, "up")
		all.Go(func() { d.Run(ctx, l, w) })
	}
	await := func(name, status string) {
		t.Helper()
		for {
			j, err := desks[name].Job(ctx, one)
			if err == nil && j.Status == status {
				return
			}
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("on %s: %+v, %v", name, j, err)
			}
		}
	}
	for ctx.Err() == nil {
		_, err := desks["laptop"].AddJob(ctx, daemonapi.AddJob{ID: one, ProjectName: "shop", Command: "fix", Args: []string{"17"}})
		if daemonapi.Code(err) != "unavailable" { // until it is linked
			check(t, err)
			break
		}
		time.Sleep(time.Millisecond)
	}

	await("laptop", "running")
	yards["vps"].Finish("done", 0.5)
	wakes["vps"] <- struct{}{}
	await("laptop", "done")
	await("vps", "done")
	if got := yards["vps"].Jobs(); !slices.Equal(got, []string{one}) {
		t.Errorf("started: %v", got)
	}
	page, err := desks["vps"].Jobs(ctx, &api.Query{Limit: 10})
	check(t, err)
	if len(page.Items) != 1 || page.Items[0].USD != 0.5 || page.Items[0].Host != "vps" || page.Items[0].By != "laptop" {
		t.Errorf("%+v", page.Items)
	}
}

// Without a fleet nothing is half done.
func TestIssue20JobsWithoutAFleet(t *testing.T) {
	for _, in := range []bool{true, false} {
		testNoLink(t, in)
	}
}

func testNoLink(t *testing.T, inFleet bool) {
	t.Helper()
	o := options(claimtest.New(1))
	o.InFleet = func() bool { return inFleet }
	d := New(o)
	says := "this machine is not connected to its fleet"
	if !inFleet {
		says = "this machine is not in a fleet"
	}
	_, added := d.AddJob(t.Context(), daemonapi.AddJob{ID: one, ProjectName: "shop", Command: "fix"})
	_, shown := d.Job(t.Context(), one)
	_, listed := d.Jobs(t.Context(), &api.Query{Limit: 1})
	_, cancelled := d.CancelJob(t.Context(), one)
	_, set := d.SetCap(t.Context(), daemonapi.SetCap{Name: "x"})
	for what, err := range map[string]error{"add": added, "show": shown, "list": listed, "cancel": cancelled, "set": set} {
		if daemonapi.Code(err) != "unavailable" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for range d.Questions() {
		t.Error("there is a question")
	}

	f := linktest.New(t)
	linked := newDesktop(t, f, &world{}, "a", 1)
	linked.now.link.Conn.Close()
	if _, err := linked.AddJob(t.Context(), daemonapi.AddJob{ID: one, ProjectName: "shop", Command: "fix"}); daemonapi.Code(err) != "unavailable" {
		t.Errorf("after the connection has ended: %v", err)
	}
}

// moody is a fleet's store that stops answering.
type moody struct {
	board.Log
	silent bool  // before something is asked of it
	lost   error // of an append
}

func (m *moody) Barrier(ctx context.Context) (store.Position, error) {
	if m.silent {
		return 0, fmt.Errorf("%w: nats: API error: code=503", store.ErrUnknown)
	}
	return m.Log.Barrier(ctx)
}

func (m *moody) AppendAll(ctx context.Context, events ...store.NewEvent) ([]store.Position, error) {
	if m.lost != nil {
		return nil, m.lost
	}
	return m.Log.AppendAll(ctx, events...)
}

// What is asked of a fleet that does not answer was not done, and that is said; only where the answer to a change is
// missing is it not known, and then it is said how to look. What the store says of itself is not shown to people.
func TestIssue20WhatIsKnownOfAJobThatWasNotAnswered(t *testing.T) {
	d := newDesktop(t, linktest.New(t), &world{}, "a", 0)
	log := &moody{Log: d.now.link.Log}
	b, err := board.Open(t.Context(), log, "a", time.Now, quiet)
	check(t, err)
	d.now.board = b
	d.add(daemonapi.AddJob{})
	other := daemonapi.AddJob{ID: "0000000000000002", ProjectName: "shop", Command: "fix"}
	all := func(want, hint string) {
		t.Helper()
		_, added := d.AddJob(t.Context(), other)
		_, set := d.SetCap(t.Context(), daemonapi.SetCap{Name: "x"})
		_, cancelled := d.CancelJob(t.Context(), one)
		for what, err := range map[string]error{"added": added, "changed": set, "changed ": cancelled} {
			text := strings.ReplaceAll(want, "DONE", strings.TrimSpace(what))
			known, _ := errors.AsType[*api.Error](err)
			if known == nil || known.Code != "unavailable" || !strings.Contains(known.Failure.Error, text) || !strings.Contains(known.Hint, hint) || strings.Contains(known.Failure.Error, "nats") {
				t.Errorf("%s: %+v", what, err)
			}
		}
	}

	log.silent = true
	all("does not answer: nothing was DONE", "stopgate fleet status")
	log.silent, log.lost = false, store.ErrUnknown
	all("not known whether something was DONE", "stopgate job")
	log.lost = nil
	for range 2 {
		_, err = d.AddJob(t.Context(), other) // the same one again is one job
		check(t, err)
	}
	if n := len(d.board.Live()) + len(b.Live()); n != 2 {
		t.Errorf("%d jobs", n)
	}

	d.Unheard = func() (time.Duration, bool) { return 4 * time.Minute, true }
	log.Log = nil // nothing is asked
	all("not answered for 4 min: nothing was DONE", "stopgate fleet status")
	if _, err := d.Job(t.Context(), "0000000000000003"); daemonapi.Code(err) != "unavailable" {
		t.Errorf("a job that is not known here: %v", err)
	}
	other.ProjectName = "Not A Name" // what is wrong in itself is said all the same
	if _, err := d.AddJob(t.Context(), other); daemonapi.Code(err) != "invalid" {
		t.Errorf("an invalid job: %v", err)
	}
	if _, err := d.SetCap(t.Context(), daemonapi.SetCap{Name: "Not A Name"}); daemonapi.Code(err) != "invalid" {
		t.Errorf("an invalid cap: %v", err)
	}
}

// Jobs of a fleet that does not answer are shown as they were known last, with how old that is.
func TestIssue20JobsAreShownWithTheirAge(t *testing.T) {
	d := newDesktop(t, linktest.New(t), &world{}, "a", 0)
	d.add(daemonapi.AddJob{})
	look := func(want float64) {
		t.Helper()
		j, err := d.Job(t.Context(), one)
		check(t, err)
		page, err := d.Desk.Jobs(t.Context(), &api.Query{Limit: 10})
		check(t, err)
		if len(page.Items) != 1 || page.Items[0].Unheard != want || j.Unheard != want {
			t.Errorf("%+v, %+v", j, page.Items)
		}
	}
	look(0)
	d.Unheard = func() (time.Duration, bool) { return 250 * time.Second, true }
	look(250)
	if _, err := d.Job(t.Context(), "0000000000000002"); daemonapi.Code(err) != "unavailable" {
		t.Errorf("a job that may have been added meanwhile: %v", err)
	}
	if _, err := d.Caps(t.Context()); daemonapi.Code(err) != "unavailable" {
		t.Errorf("caps: %v", err)
	}
}

// Adding the same job again changes nothing; another one under its id is refused.
func TestIssue20AJobIsAddedOnce(t *testing.T) {
	d := newDesktop(t, linktest.New(t), &world{}, "a", 0)
	a := daemonapi.AddJob{ID: one, ProjectName: "shop", Command: "fix", Args: []string{}}
	for range 2 {
		j, err := d.AddJob(t.Context(), a)
		check(t, err)
		if j.Status != "pending" || j.OnLost != "ask" || j.Cap != "default" {
			t.Errorf("%+v", j)
		}
	}
	a.Command = "other"
	if _, err := d.AddJob(t.Context(), a); daemonapi.Code(err) != "conflict" {
		t.Errorf("another one: %v", err)
	}
	for _, wrong := range []daemonapi.AddJob{
		{ProjectName: "Not A Name", Command: "fix"},
		{ProjectName: "shop", Command: "fix", OnLost: "never"},
		{ProjectName: "shop", Command: "fix", Needs: []string{"a.b"}},
		{ProjectName: "shop", Command: "fix", Reserve: -1},
		{ProjectName: "shop", Command: "fix", Args: []string{strings.Repeat("x", 100<<10)}},
	} {
		wrong.ID = "0000000000000002"
		if _, err := d.AddJob(t.Context(), wrong); daemonapi.Code(err) != "invalid" {
			t.Errorf("%.80v: %v", wrong, err)
		}
	}
	if _, err := d.Job(t.Context(), "00000000"); err != nil {
		t.Errorf("by its prefix: %v", err)
	}
	if _, err := d.Job(t.Context(), "f"); daemonapi.Code(err) != "not_found" {
		t.Errorf("a job that was never added: %v", err)
	}
}

// A job that waits is cancelled at once, a running one by its machine; one that has ended is not.
func TestIssue20JobsAreCancelled(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 0), newDesktop(t, f, w, "b", 1)
	a.add(daemonapi.AddJob{})
	b.reads(one).works()
	for range 2 {
		j, err := a.CancelJob(t.Context(), one[:8])
		check(t, err)
		if !j.Cancelling || j.Status != "running" {
			t.Errorf("%+v", j)
		}
	}
	b.reads(one).works()
	a.is("cancelled", "b")
	if _, err := a.CancelJob(t.Context(), one); daemonapi.Code(err) != "conflict" || !strings.Contains(err.Error(), "had ended before: it is cancelled; nothing was changed") {
		t.Errorf("one that has ended: %v", err)
	}
}

// A member is lost. One of the others says so and tells its people; everyone is asked, one answer counts, and
// the question is gone.
func TestIssue20AHostDies(t *testing.T) {
	for choice, want := range map[string]string{"wait": "running", "again": "pending", "3": "cancelled"} {
		t.Run(choice, func(t *testing.T) {
			f, w := linktest.New(t), &world{}
			a, b, c := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0), newDesktop(t, f, w, "c", 0)
			b.add(daemonapi.AddJob{Reserve: 3})
			a.reads(one).works()
			for _, d := range []*desktop{b, c} {
				d.reads(one).deaths.look(t.Context())
				d.is("running", "a")
			}

			w.set("a", "lost")
			b.deaths.look(t.Context())
			c.deaths.look(t.Context())
			j := b.is("lost", "a")
			if told := append(b.Notices(), c.Notices()...); len(told) != 1 || told[0].Decision != j.Decision {
				t.Errorf("told %+v", told)
			}
			q, known := c.reads(one).Question(j.Decision[:6])
			if !known || q.Host != "a" || len(q.Options) != 3 || !strings.Contains(q.Options[1].Description, "still runs on a is cancelled") || q.Project != "shop" {
				t.Fatalf("%+v, %v", q, known)
			}
			answers := c.Unheard
			c.Unheard = func() (time.Duration, bool) { return 4 * time.Minute, true }
			if _, known := c.Question(q.ID); known {
				t.Error("it is asked while the fleet does not answer")
			}
			c.Unheard = answers
			if held := b.held()[one].USD; held != 3 {
				t.Errorf("a lost attempt holds %g", held)
			}

			if _, err := c.Answer(t.Context(), q.ID, daemonapi.Answer{Option: "maybe"}); daemonapi.Code(err) != "invalid" {
				t.Errorf("no answer: %v", err)
			}
			answered, err := c.Answer(t.Context(), q.ID, daemonapi.Answer{Option: choice})
			check(t, err)
			if answered.Resolved == nil || answered.Chosen == "" {
				t.Errorf("%+v", answered)
			}
			if _, err := b.Answer(t.Context(), q.ID, daemonapi.Answer{Option: "again"}); daemonapi.Code(err) != "conflict" {
				t.Errorf("the second answer: %v", err)
			}
			for _, d := range []*desktop{b, c} {
				if _, known := d.reads(one).Question(q.ID); known {
					t.Errorf("%s still asks", d.name)
				}
			}
			if j := b.is(want, "a"); j.Decided != answered.Chosen || j.DecidedOn != "c" {
				t.Errorf("it was decided: %q on %q", j.Decided, j.DecidedOn)
			}
			b.deaths.look(t.Context())
			if b.is(want, "a"); len(b.Notices())+len(c.Notices()) != 1 {
				t.Error("people are told again")
			}
			if holds, waits := len(b.held()), choice == "wait"; waits != (holds == 1) {
				t.Errorf("%d jobs hold the cap", holds)
			}
		})
	}
}

// A machine that sleeps is waited for; one that has left the fleet is lost after a minute.
func TestIssue20WhoIsLost(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
	b.add(daemonapi.AddJob{})
	a.reads(one).works()
	b.reads(one)
	now := time.Now()
	for _, state := range []string{"up", "silent", "asleep", "unknown"} {
		w.set("a", state)
		if b.deaths.lost(now)["a"] {
			t.Errorf("one that is %s is lost", state)
		}
	}
	w.set("a", "asleep")
	if j := b.is("running", "a"); !slices.Equal(j.Waits, []string{"a is asleep"}) {
		t.Errorf("%q", j.Waits)
	}

	w.remove("a")
	if b.deaths.lost(now)["a"] || b.deaths.lost(now.Add(59 * time.Second))["a"] {
		t.Error("one that is missing in the list is lost at once")
	}
	if !b.deaths.lost(now.Add(time.Minute))["a"] {
		t.Error("one that has left is never lost")
	}
	w.set("a", "up")
	b.deaths.lost(now)
	w.remove("b")
	w.remove("a")
	if b.deaths.lost(now.Add(time.Hour))["a"] || b.deaths.lost(now.Add(3 * time.Hour))["a"] {
		t.Error("a list without ourselves counts")
	}
}

// A machine that was stopped is waited for. Then a job that may run twice is done again, and people are asked about others.
func TestIssue20AStoppedMachineIsWaitedFor(t *testing.T) {
	for onLost, test := range map[string]struct {
		wait time.Duration
		then string
	}{"again": {5 * time.Minute, "pending"}, "ask": {time.Hour, "lost"}} {
		t.Run(onLost, func(t *testing.T) {
			f, w := linktest.New(t), &world{}
			a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
			b.add(daemonapi.AddJob{OnLost: onLost})
			a.reads(one).works()
			b.reads(one)
			w.set("a", "stopped")
			b.deaths.look(t.Context())
			if j := b.is("running", "a"); !slices.Equal(j.Waits, []string{"a is stopped"}) {
				t.Errorf("%q", j.Waits)
			}
			b.deaths.stopped["a"] = time.Now().Add(time.Minute - test.wait)
			b.deaths.look(t.Context())
			b.is("running", "a")

			w.set("a", "unknown") // it cannot be told for a moment: the time begins again
			b.deaths.look(t.Context())
			w.set("a", "stopped")
			b.deaths.look(t.Context())
			if d := time.Since(b.deaths.stopped["a"]); d > time.Minute {
				t.Errorf("it counts since %s", d)
			}

			b.deaths.stopped["a"] = time.Now().Add(-test.wait)
			b.deaths.look(t.Context())
			b.is(test.then, "a")
			if told := b.Notices(); len(told) != 1 || !strings.Contains(told[0].Text, "a was stopped") {
				t.Errorf("%+v", told)
			}
			for q := range b.Questions() {
				if !strings.Contains(q.Context, "a was stopped") {
					t.Errorf("%+v", q)
				}
			}
		})
	}
}

// A job on a machine that was stopped is cancelled at once.
func TestIssue20AJobOfAStoppedMachineIsCancelled(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
	b.add(daemonapi.AddJob{})
	a.reads(one).works()
	w.set("a", "stopped")
	_, err := b.reads(one).CancelJob(t.Context(), one)
	check(t, err)
	if j := b.is("cancelled", "a"); !strings.Contains(j.Reason, "while a was stopped") {
		t.Errorf("%+v", j)
	}
}

// A machine that the fleet does not hear of ends the attempts that are done again elsewhere, and no others. When
// it is back, the job waits for a machine again.
func TestIssue20TheDeadMansSwitch(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 2), newDesktop(t, f, w, "b", 0)
	b.add(daemonapi.AddJob{OnLost: "again"})
	const asks = "0000000000000002"
	_, err := b.AddJob(t.Context(), daemonapi.AddJob{ID: asks, ProjectName: "shop", Command: "fix"})
	check(t, err)
	a.reads(one).reads(asks).works()

	ctx, cancel := context.WithCancel(t.Context())
	unheard := deadAfter - time.Second
	a.Unheard = func() (time.Duration, bool) {
		if unheard >= deadAfter {
			cancel() // it looks once
		}
		return unheard, true
	}
	a.endUnheard(t.Context(), map[string]bool{}, unheard)
	if a.Running() != 2 {
		t.Errorf("%d run before it is time", a.Running())
	}
	unheard = deadAfter
	a.Guard(ctx)
	if left := a.Attempts(); a.Running() != 1 || left[job.Owner(asks, 1)].Job != asks || len(a.Notices()) != 1 {
		t.Errorf("%v run, told %v", left, a.Notices())
	}
	a.Yard.Restart()
	a.member = &claim.Member{Name: "a", Board: a.board, Machine: emptied{a.Yard}, Log: quiet, Now: time.Now}
	a.works()
	if j := b.is("pending", "a"); j.Attempt != 1 {
		t.Errorf("%+v", j)
	}
}

// emptied is a machine without room.
type emptied struct{ *claimtest.Yard }

func (emptied) Room() int { return 0 }

func TestWhyAJobWaits(t *testing.T) {
	up := func(name string, labels, projects []string, room int) daemonapi.FleetMember {
		return daemonapi.FleetMember{Name: name, State: "up", Labels: labels, Projects: projects, Room: room}
	}
	shop := []string{"shop"}
	lost := daemonapi.FleetMember{Name: "z", State: "lost", Projects: shop, Room: 2}
	passed := map[string]map[string]string{"busy": {one: claim.NoRoom}, "picky": {one: "not approved"}, "picky-too": {one: "not approved"}}
	full := job.Cap{Limit: job.Limit{Jobs: 1}, Held: map[string]job.Reservation{"x": {}}}
	for name, test := range map[string]struct {
		spec    job.Spec
		peers   []daemonapi.FleetMember
		cap     job.Cap
		refused map[string]string
		want    string
	}{
		"nothing":      {job.Spec{}, []daemonapi.FleetMember{up("a", nil, shop, 1), up("b", nil, nil, 1)}, job.Cap{}, nil, "no report about it yet from a"},
		"no machine":   {job.Spec{}, nil, job.Cap{}, nil, "no machine has reported here yet"},
		"room":         {job.Spec{}, []daemonapi.FleetMember{up("a", nil, shop, 0), up("busy", nil, shop, 1), lost, up("b", nil, nil, 1)}, job.Cap{}, nil, "on a, busy: there is no room for another job; project shop is not mapped on b"},
		"room by cap":  {job.Spec{}, []daemonapi.FleetMember{up("a", nil, shop, 1), lost}, full, nil, "cap default is full: 1 of 1 jobs are being done"},
		"lost":         {job.Spec{}, []daemonapi.FleetMember{up("a", nil, nil, 1), lost}, job.Cap{}, nil, "project shop is not mapped on a; lost: z"},
		"a label":      {job.Spec{Needs: []string{"gpu"}}, []daemonapi.FleetMember{up("a", nil, shop, 1)}, job.Cap{}, nil, "no machine has the label gpu"},
		"the cap":      {job.Spec{}, []daemonapi.FleetMember{up("a", nil, shop, 1)}, full, nil, "cap default is full: 1 of 1 jobs are being done"},
		"no project":   {job.Spec{}, []daemonapi.FleetMember{up("a", nil, nil, 1), up("b", nil, nil, 1)}, job.Cap{}, nil, "project shop is not mapped on a, b"},
		"not approved": {job.Spec{}, []daemonapi.FleetMember{up("picky", nil, shop, 0), up("picky-too", nil, shop, 0)}, job.Cap{}, nil, "on picky, picky-too: not approved"},
		"a host":       {job.Spec{Host: "c"}, []daemonapi.FleetMember{up("a", nil, shop, 1)}, job.Cap{}, nil, "there is no machine c in the fleet"},
		"asleep":       {job.Spec{}, []daemonapi.FleetMember{{Name: "a", State: "asleep"}}, job.Cap{}, nil, "asleep: a"},
		"refused":      {job.Spec{}, []daemonapi.FleetMember{up("a", nil, shop, 1)}, job.Cap{}, map[string]string{"a": "no command fix"}, "a could not start it: no command fix"},
	} {
		test.spec.Project = "shop"
		j := job.Job{ID: one, Spec: test.spec, State: job.Pending, Refused: test.refused}
		why, soon := waits(j, &world{peers: test.peers, passed: passed}, test.cap)
		if got := strings.Join(why, "; "); got != test.want || soon != (name == "nothing") {
			t.Errorf("%s: %q (%v), not %q", name, got, soon, test.want)
		}
	}
}

// Who adds a job is told that it waits only where no machine that is up would take it, by what is known there.
func TestIssue20AJobThatIsTakenSoonDoesNotWait(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a := newDesktop(t, f, w, "a", 1)
	newDesktop(t, f, w, "b", 1)
	add := func(n int, want string) {
		t.Helper()
		j, err := a.AddJob(t.Context(), daemonapi.AddJob{ID: fmt.Sprintf("%016x", n), ProjectName: "shop", Command: "fix"})
		check(t, err)
		if got := strings.Join(j.Waits, "; "); got != want {
			t.Errorf("%d: %q, not %q", n, got, want)
		}
	}
	add(1, "")
	a.Wrong = errors.New("not approved")
	add(2, "") // b takes it
	w.set("b", "lost")
	add(3, "on a: not approved; lost: b")
	a.Wrong = nil
	add(4, "")
	a.works()
	add(5, "on a: there is no room for another job")
	w.set("b", "up")
	add(6, "")
}

// A job that is to be done again says what it waits for now, and no more of the machine that was lost.
func TestIssue20AJobThatIsDoneAgainSaysWhatItWaitsFor(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
	b.add(daemonapi.AddJob{OnLost: "again"})
	a.reads(one).works()
	b.is("running", "a")
	w.set("a", "lost")
	b.reads(one).deaths.look(t.Context())
	j := b.is("pending", "a")
	if got := strings.Join(j.Waits, "; "); got != "on b: there is no room for another job" {
		t.Errorf("it waits: %q", got)
	}
	if told := b.Notices(); len(told) != 1 || !strings.Contains(told[0].Text, "done again, on the first machine that can take it") {
		t.Errorf("told: %+v", told)
	}
}

// A job whose machine is away is cancelled at once, also one that people wait for; the machine ends its attempt when it is
// back, and says so.
func TestIssue20AJobIsCancelledWhileItsMachineIsAway(t *testing.T) {
	for _, state := range []string{"silent", "asleep", "lost", "gone"} {
		f, w := linktest.New(t), &world{}
		a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
		b.add(daemonapi.AddJob{Reserve: 3})
		a.reads(one).works()
		if state == "gone" {
			w.remove("a")
		} else {
			w.set("a", state)
		}
		b.reads(one)
		j, err := b.CancelJob(t.Context(), one)
		check(t, err)
		if j.Status != "cancelled" || !strings.Contains(j.Reason, "may still run there") || len(b.held()) != 0 {
			t.Errorf("%s: %+v", state, j)
		}
		a.reads(one).works()
		if a.Running() != 0 || len(a.Notices()) != 1 {
			t.Errorf("%s: %d run, told %v", state, a.Running(), a.Notices())
		}
	}
}

// A machine comes back after months with an attempt of a job that ended elsewhere, whose facts were trimmed meanwhile. The
// attempt is cancelled before it begins anything, and the job is not done again.
func TestIssue20AnAttemptComesBackAfterMonths(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 1)
	b.add(daemonapi.AddJob{OnLost: "again"})
	a.reads(one).works()
	w.set("a", "lost")
	b.reads(one).deaths.look(t.Context())
	b.works()
	b.Finish("done", 1)
	b.works()
	b.is("done", "b")

	const month = 30 * 24 * time.Hour
	log, trimmed := f.Member("hub").Log, 0
	for n := range 4 {
		_, err := b.SetCap(t.Context(), daemonapi.SetCap{Name: "x", Jobs: &n}) // something happens in each month
		check(t, err)
		now := func() time.Time { return time.Now().Add(time.Duration(n) * (month + time.Hour)) }
		done, err := board.Tidy(t.Context(), log, month, "hub-1", now, quiet)
		check(t, err)
		trimmed += done.Events
	}
	if trimmed == 0 {
		t.Fatal("nothing was trimmed")
	}

	back := newDesktop(t, f, w, "a", 1)
	back.Yard, back.member.Machine = a.Yard, a.Yard
	a.Restart()
	back.works()
	owner := job.Owner(one, 1)
	if attempt, _ := a.Attempt(owner); !attempt.Ended || attempt.Status != "cancelled" || !strings.Contains(attempt.Reason, "it is done") {
		t.Errorf("%+v", attempt)
	}
	if n := len(back.board.Live()); n != 0 || a.Running() != 0 {
		t.Errorf("%d jobs are live, %d run", n, a.Running())
	}
	if _, err := back.Job(t.Context(), one); daemonapi.Code(err) != "not_found" || !strings.Contains(err.Error(), "ended so long ago") {
		t.Errorf("shown: %v", err)
	}
	if j, known := back.Known(one); !known || j.Status != "done" { // what a queue of work asks for
		t.Errorf("%+v", j)
	}
}

// A list of machines without this one is not complete: a machine that is missing in it may be there.
func TestIssue20AJobIsCancelledByItsMachineWhereTheListIsNotComplete(t *testing.T) {
	f, w := linktest.New(t), &world{}
	a, b := newDesktop(t, f, w, "a", 1), newDesktop(t, f, w, "b", 0)
	b.add(daemonapi.AddJob{})
	a.reads(one).works()
	w.remove("a")
	w.remove("b")
	j, err := b.reads(one).CancelJob(t.Context(), one)
	check(t, err)
	if !j.Cancelling || j.Status != "running" {
		t.Errorf("%+v", j)
	}
}
