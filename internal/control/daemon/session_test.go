package daemon

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
)

func TestQueuesOfSessions(t *testing.T) {
	p := planeOf(t, testCore(newMemory(t)))
	ask := func(q api.Query) (names string, all []daemonapi.SessionQueue) {
		t.Helper()
		q.Limit = 10
		page, err := p.SessionQueues(t.Context(), &q)
		check(t, err)
		for _, one := range page.Items {
			names += one.Session + " "
		}
		return names, page.Items
	}
	if names, _ := ask(api.Query{}); names != "" {
		t.Errorf("there are %s", names)
	}
	store := queue.NewStore(p.opts.StateDir)
	check(t, store.Create("first", queue.New("first", "q1", []string{"one", "two"}, noon)))
	check(t, store.Create("second", queue.New("second", "q2", []string{"three"}, noon.Add(time.Hour))))
	check(t, store.Create("gone", queue.New("gone", "q3", []string{"four"}, noon.Add(2*time.Hour))))
	_, err := store.Change("gone", func(q queue.Queue) queue.Transition { return queue.Apply(q, queue.Withdrawn{Why: "enough"}, noon) }, func(queue.Transition, string) error { return nil })
	check(t, err)
	check(t, os.WriteFile(store.Path("broken"), []byte("{"), 0o600))

	names, all := ask(api.Query{Until: noon.Add(24 * time.Hour)})
	if names != "second first " || all[1].Commands[0].Status != "active" || all[1].Commands[0].Delivery != "waiting" || all[1].Commands[1].Status != "pending" || !all[1].Created.Equal(noon) {
		t.Errorf("%s: %+v", names, all)
	}
	names, all = ask(api.Query{Past: true, Until: noon.Add(24 * time.Hour)})
	if names != "gone second first " || all[0].Ended != "cancelled" || all[0].Why != "enough" {
		t.Errorf("%s: %+v", names, all)
	}
	if names, _ := ask(api.Query{Session: "second"}); names != "second " {
		t.Errorf("%s", names)
	}
	if _, all := ask(api.Query{Session: "broken"}); len(all) != 1 || all[0].Fault == "" {
		t.Errorf("%+v", all)
	}
}

func TestSessionsInTmux(t *testing.T) {
	p := planeOf(t, testCore(newMemory(t)))
	book := presence.NewBook(p.opts.StateDir)
	for i, state := range []presence.State{presence.Free, presence.Busy, presence.Asking} {
		check(t, book.Store(presence.Instance{Session: "s", Socket: "/tmux", PID: 7, Pane: "%" + string(rune('1'+i)), State: state, Since: noon.Add(time.Duration(i) * time.Hour)}))
	}
	ask := func(q api.Query) (panes string) {
		t.Helper()
		q.Limit = 2
		for {
			page, err := p.Sessions(t.Context(), &q)
			check(t, err)
			for _, s := range page.Items {
				panes += s.Pane + s.State + " "
			}
			if page.Next == (api.Place{}) {
				return panes
			}
			q.After = page.Next
		}
	}
	for want, q := range map[string]api.Query{
		"%3asking %2busy %1free ": {},
		"%3asking %1free ":        {Status: []string{"free", "asking"}},
		"%2busy ":                 {Since: noon.Add(time.Hour), Until: noon.Add(2 * time.Hour)},
		"":                        {Session: "other"},
	} {
		if got := ask(q); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRunsOfGates(t *testing.T) {
	p := planeOf(t, testCore(newMemory(t)))
	j := journal.New(p.opts.journalDir(), journal.Limits{SegmentSize: 4 << 10})
	for i := range 40 {
		call := "call" + string(rune('A'+i))
		for _, r := range []event.Record{
			{Call: call, Kind: event.Received, Event: "Stop"},
			{
				Call: call, Kind: event.Answered, Event: "Stop", Time: noon.Add(time.Duration(i) * time.Minute), Session: "s", Project: []string{"/a", "/b"}[i%2],
				Decision: []string{"allow", "block"}[i%2], DurationMS: 5,
				Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Status: []string{"retry_limit_exceeded", "failed"}[i%2], Blocked: i%2 == 1}},
				Trees:    []event.Tree{{Root: "/a", Status: "failed", Gates: []event.Gate{{Job: "te\x1b[1mst", Outcome: "failed", DurationMS: 7, Log: "/l"}}}},
			},
			{Call: "x", Kind: event.Answered, Event: "PreToolUse", Decision: "allow"},
		} {
			_, err := j.Append(&r)
			check(t, err)
		}
	}
	ask := func(q api.Query) (runs []daemonapi.GateRun) {
		t.Helper()
		q.Limit = 7
		for {
			page, err := p.Gates(t.Context(), &q)
			check(t, err)
			runs = append(runs, page.Items...)
			if page.Next == (api.Place{}) {
				return runs
			}
			q.After = page.Next
		}
	}
	all := ask(api.Query{})
	if len(all) != 40 || all[0].ID != "callh" || all[39].ID != "callA" || all[0].Trees[0].Gates[0].Job != "test" || all[0].Decision != "block" {
		t.Fatalf("%d: %+v", len(all), all[0])
	}
	if all[0].Result != "blocked" || all[0].Headline != "Blocked: test failed" || all[1].Result != "gave_up" || all[1].Headline != "Allowed although test still fails: the retry limit is reached" {
		t.Errorf("%+v, %+v", all[0], all[1])
	}
	for name, test := range map[string]struct {
		q    api.Query
		want int
	}{
		"project":  {api.Query{Project: "/a"}, 20},
		"decision": {api.Query{Status: []string{"block"}}, 20},
		"session":  {api.Query{Session: "other"}, 0},
		"since":    {api.Query{Since: noon.Add(30 * time.Minute)}, 10},
	} {
		if got := ask(test.q); len(got) != test.want {
			t.Errorf("%s: %d", name, len(got))
		}
	}
	_, err := p.Gates(t.Context(), &api.Query{Limit: 1, After: api.Place{ID: "0123456789abcdef"}})
	if e := refusal(t, err); e.Code != "invalid" || !strings.Contains(e.Error, "cursor") {
		t.Errorf("%+v", e)
	}
}

// The sessions of the web page can be asked for, page by page.
func TestSessionsThatWereSeen(t *testing.T) {
	p := planeOf(t, testCore(newMemory(t)))
	p.seen = func() ([]daemonapi.Seen, error) {
		return []daemonapi.Seen{{ID: "a", State: "busy", Since: noon}, {ID: "b", State: "gave_up", Project: "/b", Since: noon.Add(time.Hour)}}, nil
	}
	first, err := p.Seen(t.Context(), &api.Query{Limit: 1})
	check(t, err)
	second, err := p.Seen(t.Context(), &api.Query{Limit: 1, After: first.Next})
	check(t, err)
	if len(first.Items) != 1 || first.Items[0].ID != "b" || len(second.Items) != 1 || second.Items[0].ID != "a" || second.Next != (api.Place{}) {
		t.Errorf("%+v, %+v", first, second)
	}
	for _, q := range []api.Query{{Status: []string{"gave_up"}}, {Project: "/b"}, {Session: "b"}} {
		q.Limit = 9
		if got, err := p.Seen(t.Context(), &q); err != nil || len(got.Items) != 1 || got.Items[0].ID != "b" {
			t.Errorf("%+v: %+v, %v", q, got, err)
		}
	}
}
