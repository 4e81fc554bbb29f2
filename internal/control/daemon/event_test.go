package daemon

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/store"
)

// history reads the history in pages of a size, and returns the positions.
func history(t *testing.T, p *plane, q api.Query) (seen []uint64, events []daemonapi.Event) {
	t.Helper()
	for before := uint64(api.Now); ; {
		page, err := p.History(t.Context(), &q, before)
		check(t, err)
		for _, e := range page.Items {
			seen = append(seen, e.Position)
		}
		events = append(events, page.Items...)
		if page.Next == (api.Place{}) {
			return seen, events
		}
		next, err := strconv.ParseUint(page.Next.ID, 10, 64)
		check(t, err)
		if next >= before {
			t.Fatalf("after %d comes %d", before, next)
		}
		before = next
	}
}

func TestHistoryOfEvents(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	for n := range 200 { // more than are looked at at first
		createdAt(t, c, n, n, shellPlan("one"), func(w *engine.Create) {
			w.Project, w.Passed = fmt.Sprintf("/p%d", n%2), map[string]string{"GH_TOKEN": "secret"}
		})
	}
	do(t, c, newID(7), engine.Input{ID: "cancel", Time: noon.Add(500 * time.Hour), What: engine.Cancel{Why: "enough"}})
	last := uint64(c.position())

	var all []uint64
	for at := last; at > 0; at-- {
		all = append(all, at)
	}
	for _, size := range []int{7, 50, 500} {
		if got, _ := history(t, p, api.Query{Limit: size}); !slices.Equal(got, all) {
			t.Errorf("pages of %d: %d events, want %d: %v", size, len(got), len(all), got)
		}
	}
	for name, test := range map[string]struct {
		q    api.Query
		want int
	}{
		"owner":    {api.Query{Owner: newID(7)}, 2},
		"nobody":   {api.Query{Owner: newID(999)}, 0},
		"type":     {api.Query{Types: []string{"pipeline:created"}}, 200},
		"types":    {api.Query{Types: []string{"pipeline:cancelling", "nothing"}}, 1},
		"project":  {api.Query{Project: "/p1", Types: []string{"pipeline:created"}}, 100},
		"since":    {api.Query{Since: noon.Add(190 * time.Hour)}, 11},
		"until":    {api.Query{Until: noon.Add(time.Hour)}, 1},
		"together": {api.Query{Owner: newID(7), Types: []string{"pipeline:created"}, Since: noon}, 1},
	} {
		test.q.Limit = 9
		got, events := history(t, p, test.q)
		if len(got) != test.want || !slices.IsSortedFunc(got, func(a, b uint64) int { return int(int64(b) - int64(a)) }) {
			t.Errorf("%s: %d events, want %d", name, len(got), test.want)
		}
		for _, e := range events {
			if len(e.Facts) == 0 || e.Data != nil {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}

	// Data is there where it is asked for, without what may be secret.
	_, events := history(t, p, api.Query{Owner: newID(7), Limit: 9, Data: true})
	created := events[len(events)-1]
	if created.Data[0].Type != "pipeline:created" || created.Data[0].Data["project"] != "/p1" || created.Data[0].Data["plan"] != nil {
		t.Errorf("%+v", created.Data)
	}
	if text := fmt.Sprint(created.Data); !strings.Contains(text, "GH_TOKEN:…") || strings.Contains(text, "secret") {
		t.Errorf("%s", text)
	}
	if o := c.owner(newID(7)); o.Passed["GH_TOKEN"] != "secret" {
		t.Error("the owner has lost it")
	}
}

// Of a history that was trimmed the rest is there.
func TestHistoryThatWasTrimmed(t *testing.T) {
	s := newMemory(t)
	c := testCore(s)
	p := planeOf(t, c)
	cancel := func(n int) {
		do(t, c, newID(n), engine.Input{ID: "cancel", Time: noon.Add(500 * time.Hour), What: engine.Cancel{Why: "enough"}})
	}
	for n := range 100 {
		createdAt(t, c, n, n, shellPlan("one"), asIs)
		cancel(n)
	}
	check(t, c.snapshot(t.Context()))
	trimmedTo := uint64(c.position())
	createdAt(t, c, 200, 200, shellPlan("one"), asIs)
	check(t, c.snapshot(t.Context()))
	cancel(200)
	trimmed, err := s.Trim(t.Context(), "test")
	check(t, err)
	if trimmed.Events == 0 {
		t.Fatal("nothing was trimmed")
	}
	got, _ := history(t, p, api.Query{Limit: 3})
	var want []uint64
	for at := uint64(c.position()); at > trimmedTo; at-- {
		want = append(want, at)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, _ := history(t, p, api.Query{Owner: newID(200), Limit: 3}); len(got) != 2 {
		t.Errorf("of one owner: %v", got)
	}
}

// A stream from now has nothing that was before, and only what is asked for.
func TestEventsFromNow(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	createdAt(t, c, 1, 1, shellPlan("one"), asIs)
	before := c.position()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream := p.Events(ctx, &api.Query{Types: []string{"pipeline:cancelling"}, Data: true}, api.Now)
	createdAt(t, c, 2, 2, shellPlan("one"), asIs) // not of that type
	do(t, c, newID(1), engine.Input{ID: "cancel", Time: noon.Add(9 * time.Hour), What: engine.Cancel{Why: "enough"}})
	for e, err := range stream {
		check(t, err)
		if store.Position(e.Position) <= before || e.Owner != newID(1) || e.Now == nil || len(e.Data) != len(e.Facts) || e.Data[0].Data["why"] != "enough" {
			t.Errorf("%+v", e)
		}
		break
	}
}
