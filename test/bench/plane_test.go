//go:build unix

package main

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// The test binary is also the daemon that the benchmarks start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && standIns[os.Args[1]] != nil {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	environtest.Clean()
	os.Exit(m.Run())
}

func testState(t *testing.T, l *lab, name string) string {
	t.Helper()
	state, err := l.state(name)
	check(t, err)
	return state
}

func TestALifeEndsWell(t *testing.T) {
	steps, err := lifeSteps()
	check(t, err)
	var o *engine.Owner
	for _, data := range steps {
		step, err := engine.DecodeStep(data)
		if err == nil {
			o, err = engine.Apply(o, step)
		}
		check(t, err)
	}
	if o.Step != runbook.EndDone || len(o.Effects) != 0 || len(o.History) != 3 || len(steps) < 4*lifeTurns {
		t.Errorf("after %d steps: %+v", len(steps), o)
	}
}

func TestFillEventsMakesAsManyAsItShould(t *testing.T) {
	state := testState(t, testLab(t), "s")
	check(t, fillEvents(t.Context(), database(state), 10*hands+7))
	s, err := sqlite.Open(t.Context(), database(state))
	check(t, err)
	defer s.Close()
	n := 0
	for _, err := range s.ReadAll(t.Context(), 0) {
		check(t, err)
		n++
	}
	if n != 10*hands+7 {
		t.Errorf("%d events", n)
	}
}

func TestGroupFileHasEverything(t *testing.T) {
	path := testLab(t).path("file")
	g, err := newGroupFile(path, false)
	check(t, err)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for range 10 {
				if err := g.append([]byte{byte('a' + i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(path) // before it is closed
	check(t, err)
	slices.Sort(text)
	var want []byte
	for i := range 20 {
		want = append(want, bytes.Repeat([]byte{byte('a' + i)}, 10)...)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s", text)
	}
	g.close()
}

func TestQuantile(t *testing.T) {
	s := &series{}
	for i := range 200 {
		s.add(time.Duration(200-i), 0)
	}
	if got := s.quantile(0.99); got != 199 {
		t.Errorf("%d", got)
	}
	if got := ms(7).quantile(0.99); got != 7*time.Millisecond {
		t.Errorf("%s", got)
	}
}

func TestStopsAreAnswered(t *testing.T) {
	m, err := testLab(t).managed(t.Context(), "s", 3)
	check(t, err)
	defer m.kill()
	for _, synced := range []bool{false, true} {
		s, err := m.atOnce(t.Context(), 4, 5, synced)
		if err != nil || len(s.times) != 20 {
			t.Errorf("%d stops, %v", len(s.times), err)
		}
	}
	m.agents = []string{"00000000-0000-0000-0000-000000000000"} // who may stop
	if _, err := m.stop(t.Context(), false); err == nil || !strings.Contains(err.Error(), "signalled") {
		t.Errorf("a stop of an agent that is not there: %v", err)
	}
	if heap, _, err := m.memory(); err != nil || heap < 100_000 {
		t.Errorf("%d bytes, %v", heap, err)
	}
}

func TestBacklogIsRead(t *testing.T) {
	l := testLab(t)
	place, state := testState(t, l, "place"), testState(t, l, "s")
	ids, err := fillAgents(t.Context(), database(state), 2)
	check(t, err)
	check(t, writeBacklog(journalOf(place), ids, 2000))
	if _, err := l.catchUp(t.Context(), place, state); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(place + "/journal"); err != nil {
		t.Error(err)
	}
	// A daemon that has not read it is noticed.
	other := testState(t, l, "other")
	if _, err := fillAgents(t.Context(), database(other), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := l.catchUp(t.Context(), place, other); err == nil {
		t.Error("an agent that has not ended is not noticed")
	}
}

func TestReplayNoticesADaemonWithoutEvents(t *testing.T) {
	l := testLab(t)
	state := testState(t, l, "s")
	check(t, fillEvents(t.Context(), database(state), 40*hands))
	var s series
	if err := l.startOnce(t.Context(), state, 40*hands, &s); err != nil || len(s.times) != 1 {
		t.Error(err)
	}
	if err := l.startOnce(t.Context(), testState(t, l, "empty"), 1000, &s); err == nil {
		t.Error("a daemon without events is not noticed")
	}
}

// What is injected takes part in every commit, and in those of other stores none.
func TestSlowDiskIsSlow(t *testing.T) {
	l, hooked := testLab(t), map[bool]bool{}
	for _, slow := range []bool{false, true} {
		conn := &hookedConn{}
		check(t, sleepBeforeCommits(conn, "file:"+database(l.path(appendDir(1, slow)))))
		hooked[slow] = conn.commit != nil
		if !slow {
			continue
		}
		if begun := time.Now(); conn.commit() != 0 || time.Since(begun) < slowSync {
			t.Errorf("the commit is refused, or takes %s", time.Since(begun))
		}
	}
	if hooked[false] || !hooked[true] {
		t.Errorf("slow: %v", hooked)
	}
}

type hookedConn struct {
	driver.ExecerContext
	driver.QueryerContext
	modernc.HookRegisterer
	commit modernc.CommitHookFn
}

func (c *hookedConn) RegisterCommitHook(hook modernc.CommitHookFn) { c.commit = hook }

func TestListsAreAnswered(t *testing.T) {
	p, err := testLab(t).listed(t.Context(), "s", 60)
	check(t, err)
	defer p.kill()
	for _, path := range lists {
		var answer any
		if err := p.Ask(t.Context(), "GET", path, nil, &answer); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if items, is := answer.([]any); is && len(items) > 50 || is && len(items) == 0 && !strings.Contains(path, "nowhere") && !strings.Contains(path, "settled") {
			t.Errorf("%s: %d items", path, len(items))
		}
	}
}
