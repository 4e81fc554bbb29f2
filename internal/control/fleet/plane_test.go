package fleet

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

func TestIssue20OneInboxForAllMachines(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann", owner(1), owner(3))
	vps := w.machine("vps", "ann", owner(2))
	w.sees(laptop, 3)
	w.sees(vps, 3)

	var rows []string
	for _, o := range laptop.list(t, &api.Query{}) {
		rows = append(rows, o.ID[15:]+o.Host+o.Agent.Host+o.Decision.Host)
	}
	if want := []string{"3", "2vpsvpsvps", "1"}; !slices.Equal(rows, want) {
		t.Errorf("it lists %q, not %q", rows, want)
	}
	for host, want := range map[string]int{"vps": 1, "laptop": 2, ".": 2, "": 3} {
		if got := len(laptop.list(t, &api.Query{Host: host})); got != want {
			t.Errorf("%q has %d owners, not %d", host, got, want)
		}
	}
	if _, err := laptop.Owners(t.Context(), &api.Query{Host: "mars", Limit: 1}); daemonapi.Code(err) != "not_found" || !strings.Contains(err.(*api.Error).Hint, "vps") {
		t.Errorf("a machine that there is not: %v", err)
	}
	decisions, err := laptop.Decisions(t.Context(), &api.Query{Limit: 10})
	check(t, err)
	agents, err := laptop.Agents(t.Context(), &api.Query{Limit: 10})
	check(t, err)
	if len(decisions.Items) != 3 || decisions.Items[1].Host != "vps" || len(agents.Items) != 3 || agents.Items[1].Host != "vps" {
		t.Errorf("decisions and agents: %+v %+v", decisions, agents)
	}
}

// Pages of all machines are those of one list, whatever is where.
func TestPagesOfSeveralMachines(t *testing.T) {
	r := seedtest.New(t)
	for range 300 {
		own := &ownPlane{owners: map[string]daemonapi.Owner{}}
		f := New(Options{Plane: own, Now: time.Now, Self: func() (string, string) { return "test", "laptop" }})
		f.me = "laptop"
		var want []string
		for i := range r.IntN(30) {
			o := owner(i)
			o.Created = noon.Add(time.Duration(r.IntN(5)) * time.Second)
			want = append(want, o.Created.Format(time.RFC3339)+"\x00"+o.ID)
			if r.IntN(2) == 0 {
				own.put(o)
				continue
			}
			f.show(t, []string{"vps", "desk"}[r.IntN(2)], o)
		}
		slices.SortFunc(want, func(a, b string) int { // the newest first, then by id
			at, id, _ := strings.Cut(a, "\x00")
			bt, other, _ := strings.Cut(b, "\x00")
			if at != bt {
				return strings.Compare(bt, at)
			}
			return strings.Compare(id, other)
		})
		m := &machine{Fleet: f, Plane: f.Merged(), own: own}
		var got []string
		for _, o := range m.list(t, &api.Query{Limit: 1 + r.IntN(8)}) {
			got = append(got, o.Created.Format(time.RFC3339)+"\x00"+o.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// show has another machine show an owner.
func (f *Fleet) show(t *testing.T, member string, o daemonapi.Owner) {
	t.Helper()
	f.others.Take(member, o.ID, encoded(t, o))
}

func TestIssue20ActsGoToTheMachineThatHasIt(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann", owner(1))
	vps := w.machine("vps", "ann", owner(2))
	vps.own.log = strings.Repeat("0123456789", 300_000)
	w.sees(laptop, 2)
	w.hears(laptop, "vps")
	ctx, id := t.Context(), owner(2).ID

	o, err := laptop.Owner(ctx, id[:16])
	check(t, err)
	if o.Host != "vps" || o.Vars["secret"] != "hunter2" {
		t.Errorf("the whole of it: %+v", o)
	}
	d, err := laptop.Decision(ctx, owner(2).Decision.ID)
	check(t, err)
	if d.Host != "vps" || d.Details == nil {
		t.Errorf("the whole decision: %+v", d)
	}
	_, err = laptop.Answer(ctx, owner(2).Decision.ID, daemonapi.Answer{ID: "aa", Option: "yes"})
	check(t, err)
	_, err = laptop.Cancel(ctx, id, daemonapi.Cancel{ID: "ab"})
	check(t, err)
	_, err = laptop.Resume(ctx, id, daemonapi.Resume{ID: "ac", Message: "go"})
	check(t, err)
	a, err := laptop.Send(ctx, owner(2).Agent.ID, daemonapi.Send{ID: "ad", Message: "hi"})
	check(t, err)
	_, err = laptop.Kill(ctx, owner(2).Agent.ID, daemonapi.Kill{ID: "ae"})
	check(t, err)
	s, err := laptop.Start(ctx, daemonapi.Start{ID: owner(77).ID, Command: "fix", Host: "vps", ProjectName: "shop", Env: map[string]string{"TOKEN": "x"}})
	check(t, err)
	if a.Host != "vps" || s.Host != "vps" {
		t.Errorf("where that is: %q %q", a.Host, s.Host)
	}
	want := []string{"answer " + owner(2).Decision.ID + " yes", "cancel " + id, "resume " + id + " go", "send " + owner(2).Agent.ID + " hi", "kill " + owner(2).Agent.ID, "start fix in shop"}
	for i := range want {
		want[i] += " by ann on laptop"
	}
	if diff := cmp.Diff(want, vps.own.done()); diff != "" {
		t.Error(diff)
	}
	if did := laptop.own.done(); len(did) > 0 {
		t.Errorf("this machine did %q", did)
	}

	g, err := laptop.Graph(ctx, id)
	check(t, err)
	svg, err := laptop.Picture(ctx, id)
	check(t, err)
	screen, err := laptop.Screen(ctx, owner(2).Agent.ID, true)
	check(t, err)
	talk, err := laptop.Conversation(ctx, owner(2).Agent.ID, api.Range{At: 7, Before: true, Limit: 9})
	check(t, err)
	if g.Name != "drawn there" || string(svg) != "<svg/>" || screen.Text != "a screen, true" || talk.Session != "7 true 9" {
		t.Errorf("%q %q %q %q", g.Name, svg, screen.Text, talk.Session)
	}
	testLogs(t, laptop, vps.own.log, id)
}

// testLogs reads a log of another machine, which is larger than an answer may be at once.
func testLogs(t *testing.T, laptop *machine, whole, id string) {
	for name, test := range map[string]struct {
		q    api.LogQuery
		want string
	}{
		"all":    {api.LogQuery{}, whole},
		"a tail": {api.LogQuery{Tail: 5}, "56789"},
		"a part": {api.LogQuery{Offset: 12, Limit: 2_000_000}, whole[12:2_000_012]},
		"rest":   {api.LogQuery{Offset: 2_999_990}, "0123456789"},
	} {
		var got bytes.Buffer
		begun := 0
		test.q.Begin = func(offset, size int64) {
			if begun++; size != int64(len(whole)) {
				t.Errorf("%s: it has %d bytes", name, size)
			}
		}
		check(t, laptop.Log(t.Context(), id, test.q, &got))
		if got.String() != test.want || begun != 1 {
			t.Errorf("%s: %d bytes, not %d; it began %d times", name, got.Len(), len(test.want), begun)
		}
	}
	err := laptop.Log(t.Context(), id, api.LogQuery{Follow: true, Begin: func(int64, int64) {}}, &bytes.Buffer{})
	if daemonapi.Code(err) != "invalid" {
		t.Errorf("following: %v", err)
	}
}

func TestPrefixesOfSeveralMachines(t *testing.T) {
	own := &ownPlane{owners: map[string]daemonapi.Owner{}}
	f := New(Options{Plane: own, Now: time.Now, Self: func() (string, string) { return "test", "laptop" }})
	f.me = "laptop"
	p := f.Merged()
	own.put(owner(0xa1))
	f.show(t, "vps", owner(0xa2))
	f.show(t, "desk", owner(0xb1))
	f.show(t, "desk", owner(0xc1))
	f.show(t, "vps", owner(0xc2))
	prefix := "00000000000000"
	for id, want := range map[string]string{prefix + "a1": "", prefix + "a2": "vps", prefix + "b": "desk", owner(0xc1).ID: "desk"} {
		at, err := p.ownerAt(t.Context(), id)
		if check(t, err); at.host != want {
			t.Errorf("%s is on %q, not on %q", id, at.host, want)
		}
	}
	for id, hosts := range map[string][]string{prefix + "a": {"this machine", "vps"}, prefix + "c": {"desk", "vps"}, prefix: {"5 matches"}} {
		_, err := p.ownerAt(t.Context(), id)
		e, is := err.(*api.Error)
		if !is || e.Code != "conflict" {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for _, host := range hosts {
			if !strings.Contains(e.Hint+e.Failure.Error, host) {
				t.Errorf("%s: %s does not name %s", id, e.Hint, host)
			}
		}
	}
	f.show(t, "evil", owner(0xc1)) // it says that it has what desk has, and what is here
	f.show(t, "evil", owner(0xa1))
	if _, err := p.ownerAt(t.Context(), owner(0xc1).ID); daemonapi.Code(err) != "conflict" || !strings.Contains(err.(*api.Error).Hint, "on evil") {
		t.Errorf("two machines say that they have it: %v", err)
	}
	if at, err := p.ownerAt(t.Context(), owner(0xa1).ID); err != nil || at.host != "" {
		t.Errorf("what is here is on %q: %v", at.host, err)
	}
	if _, err := p.ownerAt(t.Context(), "ffff"); daemonapi.Code(err) != "not_found" {
		t.Errorf("an id that there is nowhere: %v", err)
	}
}

// What a user may do on another machine is that machine's configuration.
func TestIssue20OthersMayDoWhatTheReceiverAllows(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "bob")
	w.allow["vps"] = []config.FleetAllow{{User: "ann", May: []config.FleetRight{config.FleetAnswer}}}
	laptop := w.machine("laptop", "ann", owner(1))
	vps := w.machine("vps", "bob", owner(2))
	w.sees(laptop, 2)
	w.hears(laptop, "vps")
	ctx := t.Context()
	_, err := laptop.Answer(ctx, owner(2).Decision.ID, daemonapi.Answer{ID: "aa", Option: "yes"})
	check(t, err)
	_, err = laptop.Cancel(ctx, owner(2).ID, daemonapi.Cancel{ID: "ab"})
	if daemonapi.Code(err) != "forbidden" || !strings.Contains(err.(*api.Error).Hint, "fleet.allow") {
		t.Errorf("a cancel that is not allowed: %v", err)
	}
	if got := vps.own.done(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// One who may do nothing there is told which right a cancel needs, and not the one that looking needs.
func TestIssue20ACancelNamesTheRightThatItNeeds(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "bob")
	laptop := w.machine("laptop", "ann", owner(1))
	w.machine("vps", "bob", owner(2))
	w.sees(laptop, 2)
	w.hears(laptop, "vps")
	o, err := laptop.Owner(t.Context(), owner(2).ID) // the command line asks for the whole id
	check(t, err)
	if o.Host != "vps" || o.ID != owner(2).ID {
		t.Errorf("%+v", o)
	}
	_, err = laptop.Cancel(t.Context(), o.ID, daemonapi.Cancel{ID: "ab"})
	if daemonapi.Code(err) != "forbidden" || !strings.Contains(err.(*api.Error).Hint, "[run]") {
		t.Errorf("%v", err)
	}
}

// What a machine no longer has is not shown as it was: only a machine that cannot be asked has its last word repeated.
func TestIssue20WhatAMachineNoLongerHasIsNotShown(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann", owner(1))
	vps := w.machine("vps", "ann", owner(2))
	w.sees(laptop, 2)
	w.hears(laptop, "vps")
	vps.own.mu.Lock()
	delete(vps.own.owners, owner(2).ID)
	vps.own.mu.Unlock()
	if o, err := laptop.Owner(t.Context(), owner(2).ID); daemonapi.Code(err) != "not_found" {
		t.Errorf("%+v %v", o, err)
	}
}

// What a machine does not show any more is found by its id all the same.
func TestWhatNoMachineShowsIsSought(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	w.belongs("desk", "ann")
	old := func(id int) daemonapi.Owner {
		o, ended := owner(id), time.Now().Add(-72*time.Hour)
		o.Status, o.Ended = "done", &ended
		return o
	}
	laptop := w.machine("laptop", "ann", owner(1))
	w.machine("vps", "ann", owner(2), old(0xaaaa1), old(0xbbbb1))
	w.machine("desk", "ann", old(0xbbbb2))
	w.sees(laptop, 2)
	w.hears(laptop, "vps", "desk")
	o, err := laptop.Owner(t.Context(), old(0xaaaa1).ID[:15])
	check(t, err)
	a, err := laptop.Agent(t.Context(), old(0xaaaa1).Agent.ID)
	check(t, err)
	d, err := laptop.Decision(t.Context(), old(0xaaaa1).Decision.ID)
	check(t, err)
	if o.Host != "vps" || a.Host != "vps" || d.Host != "vps" || o.ID != old(0xaaaa1).ID {
		t.Errorf("%q %q %q", o.Host, a.Host, d.Host)
	}
	_, err = laptop.Owner(t.Context(), old(0xbbbb1).ID[:15])
	if daemonapi.Code(err) != "conflict" || !strings.Contains(err.(*api.Error).Hint, "on desk") || !strings.Contains(err.(*api.Error).Hint, "on vps") {
		t.Errorf("a prefix of two machines: %v", err)
	}
	if _, err := laptop.Owner(t.Context(), "ffffffff"); daemonapi.Code(err) != "not_found" {
		t.Errorf("what there is nowhere: %v", err)
	}
}

// One machine that is asked for by its name answers itself, page by page, with more than it shows.
func TestTheListOfOneMachine(t *testing.T) {
	w := newWorld(t)
	w.belongs("vps", "ann")
	laptop := w.machine("laptop", "ann", owner(1))
	vps := w.machine("vps", "ann")
	ended := time.Now().Add(-72 * time.Hour)
	for i := range 7 {
		o := owner(100 + i)
		o.Status, o.Ended = "done", &ended
		vps.own.put(o)
	}
	w.hears(laptop, "vps")
	q := &api.Query{Kind: "pipeline", Host: "vps", Limit: 3}
	var ids []string
	for _, o := range laptop.list(t, q) {
		if o.Host != "vps" {
			t.Errorf("%s is on %q", o.ID, o.Host)
		}
		ids = append(ids, o.ID[14:])
	}
	if want := "6a 69 68 67 66 65 64"; strings.Join(ids, " ") != want {
		t.Errorf("it lists %v, not %s", ids, want)
	}
	settled, err := laptop.Decisions(t.Context(), &api.Query{Host: "vps", Past: true, Limit: 50})
	check(t, err)
	if len(settled.Items) != 7 || settled.Items[0].Host != "vps" {
		t.Errorf("settled: %+v", settled)
	}
}

// A job is run only for those whom this machine allows to run commands, and only where they have signed it.
func TestIssue20JobsOfOthersAreRunIfTheyMay(t *testing.T) {
	f := New(Options{Config: func() *config.Global {
		return &config.Global{Fleet: config.Fleet{Allow: []config.FleetAllow{{User: "ann", May: []config.FleetRight{config.FleetRun}}, {User: "eve", May: []config.FleetRight{config.FleetView}}}}}
	}})
	f.me = "vps"
	f.records = []member.Record{{Name: "vps", User: "bob", Key: "KEY"}, {Name: "own", User: "bob", Key: "KEY"}, {Name: "laptop", User: "ann", Key: "KEY"}, {Name: "box", User: "eve", Key: "KEY"}, {Name: "keyless", User: "ann"}}
	signed := func(err error) func(string) error { return func(string) error { return err } }
	forged := errors.New("forged")
	for name, test := range map[string]struct {
		member string
		signed error
		want   string
	}{
		"its own user":         {"own", nil, ""},
		"one who may":          {"laptop", nil, ""},
		"one who may only see": {"box", nil, "eve on box may not run commands here (fleet.allow)"},
		"an unknown one":       {"gone", nil, "an unknown user on gone may not"},
		"in another's name":    {"laptop", forged, "it was not added by laptop"},
		"a cluster of others":  {"keyless", forged, ""},
	} {
		err := f.MayRun(test.member, signed(test.signed))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
