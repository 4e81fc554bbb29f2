package effect

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

// inWorld runs a test in a bubble, in which waiting takes no time, with a worker that is
// stopped at the end.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		test(t, w)
		check(t, w.worker.Stop(t.Context()))
	})
}

// want waits until nothing moves any more, and compares what has happened.
func (w *world) want(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(lines, w.read()); diff != "" {
		t.Error(diff)
	}
}

func TestOneAfterTheOther(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o", fresh(aim("1", engine.KillShell, "s")), fresh(shell("2")), fresh(agent("3", "a", 0)),
			fresh(aim("4", engine.SendAgent, "a")), fresh(aim("5", engine.KillAgent, "b"))))
		w.want(t,
			"started 1", "kill s", "done 1",
			"started 2", "run 2 make", "done 2",
			"started 3", "agent a", "done 3",
			"started 4", "send a 4 text", "done 4",
			"started 5", "kill b", "done 5",
		)
		if n := len(w.worker.lines); n != 0 {
			t.Errorf("%d lines are kept", n)
		}
	})
}

// Telling a person, who may take a while to be reached, holds up nothing.
func TestNotifyBesideTheRest(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		reached := make(chan struct{})
		w.act = func(what string) error {
			if strings.HasPrefix(what, "notify") {
				<-reached
			}
			return nil
		}
		w.put(open("o", fresh(aim("1", engine.NotifyPerson, ""))))
		w.want(t, "started 1", "notify title text")
		w.add("o", aim("2", engine.KillShell, "s"))
		w.want(t, "started 1", "notify title text", "started 2", "kill s", "done 2")
		close(reached)
		w.want(t, "started 1", "notify title text", "started 2", "kill s", "done 2", "done 1")
	})
}

// One owner does not wait for another.
func TestOwnersAreApart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		hold := make(chan struct{})
		w.act = func(what string) error {
			if what == "kill slow" {
				<-hold
			}
			return nil
		}
		w.put(open("o", fresh(aim("1", engine.KillShell, "slow"))))
		w.want(t, "started 1", "kill slow")
		w.put(open("p", fresh(aim("2", engine.KillShell, "quick"))))
		w.want(t, "started 1", "kill slow", "started 2", "kill quick", "done 2")
		close(hold)
	})
}

// The four rules.
func TestAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		effect engine.Effect
		lost   bool
		want   []string
	}{
		"shell:start":      {shell("1"), false, []string{"run 1 make", "done 1"}},
		"shell:kill":       {aim("1", engine.KillShell, "s"), false, []string{"kill s", "done 1"}},
		"agent:start":      {agent("1", "a", 1), false, []string{"agent a", "done 1"}},
		"agent:kill":       {aim("1", engine.KillAgent, "a"), false, []string{"kill a", "done 1"}},
		"agent:send":       {aim("1", engine.SendAgent, "a"), false, []string{"send a 1 text", "done 1"}},
		"agent:send, lost": {aim("1", engine.SendAgent, "a"), true, []string{"send a 1 text", "lost 1"}},
		"notify":           {aim("1", engine.NotifyPerson, ""), false, []string{"done 1"}},
		"workspace:make":   {space("1", engine.MakeWorkspace), false, []string{"make /ws/a", "made 1 from abc"}},
		"workspace:remove": {space("1", engine.RemoveWorkspace), false, []string{"remove /ws/a", `removed 1 kept=""`}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				if c.lost {
					w.act = func(string) error { return &Lost{Why: "nobody knows"} }
				}
				o := open("o", engine.OpenEffect{Effect: c.effect, Started: true})
				w.owners["o"] = o
				w.worker.Reattach([]*engine.Owner{o})
				w.want(t, c.want...)
			})
		})
	}
}

func TestFailureIsForGood(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.act = func(string) error { return &errand.Failure{Why: "no such directory"} }
		w.put(open("o", fresh(shell("1")), fresh(aim("2", engine.NotifyPerson, ""))))
		synctest.Wait()
		for _, want := range []string{"failed 1: no such directory", "failed 2: no such directory"} {
			if text := strings.Join(w.read(), "\n"); strings.Count(text, want) != 1 {
				t.Errorf("%q is not in %s", want, text)
			}
		}
		if len(w.worker.watched) != 0 {
			t.Error("what was not started is waited for")
		}
	})
}

func TestTroubleIsTriedAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var tries atomic.Int32
		w.act = func(string) error {
			if tries.Add(1) < 3 {
				return errors.New("disk full")
			}
			return nil
		}
		w.put(open("o", fresh(shell("1"))))
		time.Sleep(time.Minute)
		w.want(t, "started 1", "run 1 make", "trouble o: disk full", "run 1 make", "trouble o: disk full",
			"run 1 make", "trouble o: <nil>", "done 1")
	})
}

// What is reported is reported until it is on record, under the same id.
func TestReportsAreRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ids := map[string]int{}
		w.object = func(in engine.Input) error {
			if ids[in.ID]++; ids[in.ID] < 3 {
				return errors.New("store is away")
			}
			return nil
		}
		w.put(open("o", fresh(shell("1"))))
		time.Sleep(time.Minute)
		w.end("1") <- errand.Result{Code: 3, Tail: "no"}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(map[string]int{"1:started": 3, "1:done": 3, "1:exited": 3}, ids); diff != "" {
			t.Error(diff)
		}
	})
}

// A daemon that is slow to tell of the end that it was told of has nothing done twice.
func TestNothingIsDoneTwice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o"))
		w.quiet = true
		o := w.owner("o")
		o.Effects = []engine.OpenEffect{fresh(shell("1")), fresh(aim("2", engine.KillShell, "s"))}
		w.put(o)
		w.worker.Wake(o)
		want := []string{"started 1", "run 1 make", "done 1", "started 2", "kill s", "done 2"}
		w.want(t, want...)
		w.worker.Wake(o)
		w.want(t, want...)
		w.worker.Wake(open("o")) // an old one, in which there is nothing to do
		w.worker.Wake(o)
		w.want(t, want...)
		w.worker.Wake(w.owner("o"))
		w.want(t, want...)
		if n := len(w.worker.lines); n != 0 {
			t.Errorf("%d lines are kept", n)
		}
	})
}

// Cancelled work does not begin.
func TestStartThatALaterEffectEnds(t *testing.T) {
	for name, start := range map[string]engine.Effect{"shell": shell("1"), "agent": agent("1", "a", 0), "message": aim("1", engine.SendAgent, "a")} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				kill := aim("2", engine.KillShell, "1")
				if start.Shell == nil {
					kill = aim("2", engine.KillAgent, "a")
				}
				w.put(open("o", fresh(start), fresh(kill)))
				w.want(t, "done 1", "started 2", "kill "+kill.Target, "done 2")
			})
		})
	}
}

func TestRefusedStartIsNotCarriedOut(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.object = func(in engine.Input) error {
			if in.ID == "1:started" {
				return &engine.Refusal{Code: "conflict", Why: "dropped"}
			}
			return nil
		}
		w.put(open("o", fresh(agent("1", "a", 1)), fresh(aim("2", engine.KillShell, "s"))))
		w.want(t, "done 1", "started 2", "kill s", "done 2")
		if len(w.worker.slots.live) != 0 {
			t.Error("it takes a place")
		}
	})
}

func TestExits(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o", fresh(shell("1")), fresh(agent("2", "a", 0)), fresh(shell("3")), fresh(agent("4", "b", 0))))
		synctest.Wait()
		begun := len(w.read())
		w.end("1") <- errand.Result{Code: 3, Tail: "no"}
		synctest.Wait()
		w.end("a") <- errand.Result{Code: 4, Tail: "bye"}
		synctest.Wait()
		w.end("3") <- errand.Result{Lost: true}
		synctest.Wait()
		w.end("b") <- errand.Result{Lost: true}
		synctest.Wait()
		want := []string{`exited 1 3 "no" lost=false`, `exited a 4 gone=false "bye"`, `exited 3 0 "" lost=true`, "exited b 0 gone=true"}
		if diff := cmp.Diff(want, w.read()[begun:]); diff != "" {
			t.Error(diff)
		}
		if len(w.worker.watched)+len(w.worker.slots.live) != 0 {
			t.Error("something is still waited for")
		}
	})
}

func TestReattach(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		owners := []*engine.Owner{
			{ID: "s", Shell: &engine.Shell{Key: "1"}},
			{ID: "a", Agent: &engine.Agent{ID: "x"}},
			{ID: "gone", Agent: &engine.Agent{ID: "y", Life: engine.Life{Exited: true}}},
			{ID: "new", Shell: &engine.Shell{Key: "2"}, Effects: []engine.OpenEffect{fresh(shell("2"))}},
		}
		for _, o := range owners {
			w.owners[o.ID] = o
		}
		w.worker.Reattach(owners)
		w.want(t, "started 2", "run 2 make", "done 2")
		for name, waited := range map[string]bool{"1": true, "x": true, "y": false, "2": true} {
			if w.worker.watched[name] != waited {
				t.Errorf("%s is waited for: %v", name, !waited)
			}
		}
	})
}

// Agents of one name take turns, first come, first served.
func TestAtMost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, id := range []string{"a", "b", "c", "d"} {
			w.put(open("o"+id, fresh(agent(id+"1", id, 1))))
			synctest.Wait()
		}
		w.put(open("free", fresh(agent("f1", "f", 0))))
		w.want(t, "started a1", "agent a", "done a1", "started f1", "agent f", "done f1")

		w.add("ob", aim("b2", engine.KillAgent, "b")) // cancelled while it waits
		synctest.Wait()
		begun := len(w.read())
		w.end("f") <- errand.Result{}
		synctest.Wait()
		w.end("a") <- errand.Result{}
		synctest.Wait()
		w.end("c") <- errand.Result{}
		synctest.Wait()
		want := []string{
			"exited f 0 gone=false",
			"exited a 0 gone=false", "started c1", "agent c", "done c1",
			"exited c 0 gone=false", "started d1", "agent d", "done d1",
		}
		got := w.read()
		if diff := cmp.Diff([]string{"done b1", "started b2", "kill b", "done b2"}, got[begun-4:begun]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(sorted(want), sorted(got[begun:])); diff != "" {
			t.Error(diff)
		}
	})
}

// What ran before the daemon was away still counts, also where its start is in doubt.
func TestAtMostAfterACrash(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		owners := []*engine.Owner{
			open("new", fresh(agent("n1", "n", 2))),
			open("doubt", engine.OpenEffect{Effect: agent("d1", "d", 2), Started: true}),
			{ID: "runs", Project: "/p", Agent: &engine.Agent{ID: "r", Name: "worker"}},
		}
		for _, o := range owners {
			w.owners[o.ID] = o
		}
		for _, o := range owners {
			w.worker.attach(o)
		}
		if live := w.worker.slots.live; len(live) != 2 || live["d"] == nil || live["r"] == nil {
			t.Errorf("these count: %v", live)
		}
		w.worker.Reattach(owners)
		w.want(t, "agent d", "done d1")
		w.end("r") <- errand.Result{}
		synctest.Wait()
		if diff := cmp.Diff(sorted([]string{"agent d", "done d1", "exited r 0 gone=false", "started n1", "agent n", "done n1"}), sorted(w.read())); diff != "" {
			t.Error(diff)
		}
	})
}

// A message that waits for its agent is withdrawn when the agent is to end, and left where
// it is when the daemon stops.
func TestMessagesThatWait(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world)
		want []string
	}{
		"the agent is ended": {
			func(w *world) { w.add("o", aim("2", engine.KillAgent, "a")) },
			[]string{"started 1", "send a 1 text", "send ended: the effect was cancelled", "lost 1", "started 2", "kill a", "done 2"},
		},
		"another agent is ended": {
			func(w *world) { w.add("o", aim("2", engine.KillAgent, "b")) },
			[]string{"started 1", "send a 1 text"},
		},
		"the daemon stops": {
			func(w *world) { check(t, w.worker.Stop(context.Background())) },
			[]string{"started 1", "send a 1 text", "send ended: context canceled"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.send = func(ctx context.Context) error {
					<-ctx.Done()
					w.write("send ended: %v", context.Cause(ctx))
					return context.Cause(ctx)
				}
				w.put(open("o", fresh(aim("1", engine.SendAgent, "a"))))
				synctest.Wait()
				c.end(w)
				w.want(t, c.want...)
			})
		})
	}
}

// An agent that could not be started leaves its place to the next.
func TestFailedAgentsTakeNoPlace(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.act = func(what string) error {
			if what == "agent a" {
				return &errand.Failure{Why: "no"}
			}
			return nil
		}
		w.put(open("oa", fresh(agent("a1", "a", 1))))
		synctest.Wait()
		w.put(open("ob", fresh(agent("b1", "b", 1))))
		w.want(t, "started a1", "agent a", "failed a1: no", "started b1", "agent b", "done b1")
	})
}

// What is under way when the worker stops is finished, and nothing else begins.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		hold := make(chan struct{})
		w.act = func(string) error { <-hold; return nil }
		w.put(open("o", fresh(aim("1", engine.KillShell, "s")), fresh(shell("2"))))
		w.put(&engine.Owner{ID: "waits", Project: "/p", Effects: []engine.OpenEffect{fresh(agent("3", "a", -1))}})
		synctest.Wait()
		stopped := make(chan error)
		go func() { stopped <- w.worker.Stop(t.Context()) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("it did not wait")
		default:
		}
		close(hold)
		check(t, <-stopped)
		w.put(open("late", fresh(shell("4"))))
		synctest.Wait()
		want := []string{"started 1", "kill s", "done 1", "started 3", "agent a", "done 3"}
		if diff := cmp.Diff(sorted(want), sorted(w.read())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStopGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.object = func(in engine.Input) error {
			if in.ID == "1:done" {
				return errors.New("store is away")
			}
			return nil
		}
		w.put(open("o", fresh(aim("1", engine.KillShell, "s"))))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := w.worker.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestKillAll(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.act = func(what string) error {
			if strings.HasPrefix(what, "kill stubborn") {
				return errors.New("it goes on")
			}
			return nil
		}
		err := w.worker.Kill(t.Context(), []*engine.Owner{
			{ID: "a", Shell: &engine.Shell{Key: "1"}},
			{ID: "b", Agent: &engine.Agent{ID: "x"}},
			{ID: "c"},
			{ID: "d", Agent: &engine.Agent{ID: "stubborn1"}, Effects: []engine.OpenEffect{ // what they have left
				fresh(aim("2", engine.KillAgent, "stubborn2")), fresh(aim("3", engine.KillShell, "4")), fresh(shell("5")),
			}},
		})
		if diff := cmp.Diff([]string{"kill 1", "kill 4", "kill stubborn1", "kill stubborn2", "kill x"}, sorted(w.read())); diff != "" {
			t.Error(diff)
		}
		if err == nil || !strings.Contains(err.Error(), "stubborn1: it goes on") || !strings.Contains(err.Error(), "stubborn2: it goes on") {
			t.Errorf("it says %v", err)
		}
	})
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// Of thousands that are to be started at once only some are being started.
func TestStartsAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var starting, most atomic.Int64
		w.act = func(string) error {
			most.Store(max(most.Load(), starting.Add(1)))
			time.Sleep(time.Second) // of the bubble
			starting.Add(-1)
			return nil
		}
		const owners = 10 * startsAtOnce
		for n := range owners {
			w.put(open(strconv.Itoa(n), fresh(shell("s"+strconv.Itoa(n)))))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := most.Load(); n != startsAtOnce {
			t.Errorf("%d were being started at once", n)
		}
		done := slices.DeleteFunc(w.read(), func(line string) bool { return !strings.HasPrefix(line, "done ") })
		if len(done) != owners {
			t.Errorf("%d of %d were started", len(done), owners)
		}
	})
}

// An owner that is held begins nothing new until it is let go. What runs can be ended meanwhile, and what is not
// wanted any more is not begun.
func TestIssue20AHeldOwnerBeginsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		w.worker.opts.Held = func(o *engine.Owner) <-chan struct{} {
			if o.ID == "free" {
				return nil
			}
			return release
		}
		w.put(open("o", fresh(aim("1", engine.KillShell, "s")), fresh(shell("2"))))
		synctest.Wait()
		w.put(open("free", fresh(shell("3"))))
		w.want(t, "started 1", "kill s", "done 1", "started 3", "run 3 make", "done 3")
		close(release)
		w.want(t, "started 1", "kill s", "done 1", "started 3", "run 3 make", "done 3", "started 2", "run 2 make", "done 2")
	})
}
