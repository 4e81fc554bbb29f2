package fleet

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/test/chaos/books"
	"github.com/stopgate/stopgate/test/chaos/ran"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// audit compares what the machines' stores and the fleet's tell with what took place.
type audit struct {
	*stage
	books []*books.Books // by machine
	ran   []ran.Line
	rows  []row
	board *board
	quiet bool            // what is wrong is only counted
	held  []time.Duration // how long attempts overlapped because a machine was held by SIGSTOP
}

// row is a line of the result: something that was counted, and what it must be.
type row struct {
	what     string
	of       int // how many there were
	counted  int
	expected int
}

// newAudit reads the books. The daemons must have ended.
func newAudit(s *stage) *audit {
	s.Helper()
	a := &audit{stage: s}
	for _, m := range s.Machines {
		b, err := books.Read(context.Background(), filepath.Join(m.State, "stopgate.db"))
		if err != nil {
			s.Fatalf("%s: %v", m.Name, err)
		}
		a.books = append(a.books, b)
	}
	lines, err := ran.Read(s.dir)
	check(s.T, err)
	a.ran = lines
	return a
}

// enter enters a row. What is counted otherwise than expected has been named before.
func (a *audit) enter(what string, of, counted, expected int) {
	a.rows = append(a.rows, row{what, of, counted, expected})
	if counted != expected && !a.quiet {
		a.Errorf("%s: %d, and it must be %d", what, counted, expected)
	}
}

// executions counts what ran under one key more than once, on whichever machine, and what ended well and never ran.
func (a *audit) executions() {
	type execution struct{ owner, key string }
	begun := map[execution]int{}
	owners := a.ownersOfAgents()
	for _, l := range a.ran {
		switch {
		case l.What == "begun":
			begun[execution{l.Owner, l.Key}]++
		case l.What == "heard" && l.Event == "SessionStart": // by Claude Code itself
			begun[execution{owners[l.Key], l.Key}]++
		}
	}
	twice := 0
	for e, n := range begun {
		if n > 1 {
			twice++
			a.Logf("%s of owner %s ran %d times", e.key, e.owner, n)
		}
	}
	a.enter("(owner, key) executed twice", len(begun), twice, 0)

	done, never := 0, 0
	for number, b := range a.books {
		for _, e := range b.Acts {
			if (e.Kind != engine.StartShell && e.Kind != engine.StartAgent) || e.End != "done" {
				continue
			}
			done++
			if begun[execution{e.Owner, e.Errand()}] == 0 && !a.cutOff(number, e) {
				never++
				a.Logf("%s %s of owner %s counts as done on machine %d, and never ran", e.Kind, e.Errand(), e.Owner, number)
			}
		}
	}
	a.enter("counted as done and never ran", done, never, 0)
}

// ownersOfAgents are the owners of all agents that were started.
func (a *audit) ownersOfAgents() map[string]string {
	owners := map[string]string{}
	for _, b := range a.books {
		for _, e := range b.Acts {
			if e.Kind == engine.StartAgent {
				owners[e.Errand()] = e.Owner
			}
		}
	}
	return owners
}

// cutOff reports whether what an effect started may not have come so far as to write that down: it was killed, or
// its machine crashed meanwhile.
func (a *audit) cutOff(machine int, e *books.Act) bool {
	return e.Killed || a.shot[e.Errand()] || slices.ContainsFunc(a.spans, func(s span) bool {
		latest := s.from
		if a.rigged { // the machine's clock may have been ahead
			latest = latest.Add(clockMoves[0])
		}
		return s.kind == crash && s.on == machine && !e.Started.After(latest)
	})
}

// homes counts the owners that are in other than one machine's store.
func (a *audit) homes() {
	homes := map[string][]int{}
	for number, b := range a.books {
		for id := range b.Owners {
			homes[id] = append(homes[id], number)
		}
	}
	several := 0
	for id, where := range homes {
		if len(where) > 1 {
			several++
			a.Logf("owner %s is in the stores of the machines %v", id, where)
		}
	}
	a.enter("owners in the stores of several machines", len(homes), several, 0)
}

// words counts what was acknowledged and is not in the books, or twice.
func (a *audit) words() {
	lost := map[string]int{}
	number := map[string]int{}
	sends := map[string]int{}
	for _, b := range a.books {
		for _, e := range b.Acts {
			if e.Kind == engine.SendAgent {
				sends[e.Text]++
			}
		}
		for _, all := range b.Resolved {
			for _, r := range all {
				if r.Message != "" { // its agent was gone: the words are its successor's prompt
					sends[r.Message] = max(sends[r.Message], 1)
				}
			}
		}
	}
	for _, w := range a.said {
		number[w.what]++
		found := 0
		for _, b := range a.books {
			switch w.what {
			case "start":
				found += min(b.Owners[w.id], 1)
			case "answer":
				found += len(b.Resolved[w.id])
			}
		}
		switch w.what {
		case "send":
			found = sends[w.text]
		case "add", "decide":
			found = 1 // counted by the fleet's log
		}
		if found != 1 {
			lost[w.what]++
			a.Logf("%s %s (%s) was acknowledged, and is %d times in the stores", w.what, w.id, w.text, found)
		}
	}
	for _, l := range a.ran {
		if l.What != "emitted" {
			continue
		}
		number["signal"]++
		token := l.Event + " " + l.Text
		found := 0
		for _, b := range a.books {
			found += b.Words[token]
		}
		if found != 1 {
			lost["signal"]++
			a.Logf("%s was acknowledged, and is %d times in the stores", token, found)
		}
	}
	for _, what := range []string{"start", "answer", "send", "signal"} {
		a.enter("acknowledged words lost or doubled: "+what, number[what], lost[what], 0)
	}
}

// complaints counts what stand-ins complained about.
func (a *audit) complaints() {
	counted := map[string]int{}
	for _, l := range a.ran {
		if held, is := a.heldAt(l.At); is && l.What == "overlapped" {
			a.held = append(a.held, held.to.Sub(l.At))
			continue
		}
		switch l.What {
		case "together", "overlapped", "exceeded", "refused", "crowded":
			counted[l.What]++
			a.Logf("%+v", l)
		}
	}
	a.enter("two of one owner at once", len(a.stage.owners), counted["together"], 0)
	a.enter("overlapping attempts of a job, but for SIGSTOP", len(a.stage.jobs), counted["overlapped"], 0)
	a.enter("more at once than the cap, by processes", len(a.stage.jobs), counted["exceeded"], 0)
	a.enter("words that were refused", 0, counted["refused"], 0)
}

// heldAt is the fault that held a machine, or its daemon, by SIGSTOP for so long that its jobs were given up. It cannot
// end its attempts before it goes on: a job that may be done again overlaps for that long.
func (a *audit) heldAt(t time.Time) (span, bool) {
	i := slices.IndexFunc(a.spans, func(s span) bool {
		return (s.kind == pauseMachine || s.kind == pauseDaemon) && s.to.Sub(s.from) > beat.LostAfter && t.After(s.from) && t.Before(s.to)
	})
	if i < 0 {
		return span{}, false
	}
	return a.spans[i], true
}

// blocks counts stops that were blocked though there was nothing to enforce, and hooks that did not answer.
func (a *audit) blocks() {
	blocked, failed := 0, 0
	for _, c := range a.calls {
		if c.blocked {
			blocked++
		}
		if c.failed != "" {
			failed++
			a.Logf("%s stopgate hook Stop on %s: %s", c.begun.UTC().Format("15:04:05"), a.name(c.machine), c.failed)
		}
	}
	a.enter("false blocks", len(a.calls), blocked, 0)
	a.enter("hooks that failed", len(a.calls), failed, 0)
}

// readLogs is the fleet's store as each machine reads it.
func (s *stage) readLogs() (logs [][]entry) {
	for _, m := range s.Machines {
		entries, err := s.readLog(m)
		if err != nil {
			s.Error(err)
		}
		logs = append(logs, entries)
	}
	return logs
}

// fleet counts what the fleet's store tells: every job that was acknowledged is there and done, no cap held more than
// its limit, and all machines read the same.
func (a *audit) fleet(logs [][]entry) {
	differ := 0
	for i, log := range logs[1:] {
		if n := min(len(log), len(logs[0])); n == 0 || !slices.EqualFunc(log[:n], logs[0][:n], entry.equal) {
			differ++
			a.Logf("%s and %s read different stores", a.name(0), a.name(i+1))
		}
	}
	a.enter("machines that read another store of the fleet", len(logs), differ, 0)

	b, err := fold(logs[0])
	check(a.T, err)
	lost, open := 0, 0
	for id, token := range a.stage.jobs {
		switch j, known := b.jobs[id]; {
		case !known:
			lost++
			a.Logf("job %s (%s) was acknowledged, and is not in the fleet's store", id, token)
		case j.Status != "done":
			open++
			a.Logf("job %s (%s): %+v", id, token, j)
		}
	}
	a.enter("acknowledged words lost or doubled: add", len(a.stage.jobs), lost, 0)
	a.decisions(b)
	a.enter("jobs that did not end as done", len(a.stage.jobs), open, 0)
	a.enter("more at once than the cap, by the log", b.most, b.exceeded, 0)
	a.board = b
}

// decisions counts what was decided about jobs of lost machines and is not in the fleet's store once.
func (a *audit) decisions(b *board) {
	number, lost := 0, 0
	for _, w := range a.said {
		if w.what != "decide" {
			continue
		}
		number++
		if found := b.decided[w.id]; found != 1 {
			lost++
			a.Logf("decision %s (%s) was acknowledged, and is %d times in the fleet's store", w.id, w.text, found)
		}
	}
	a.enter("acknowledged words lost or doubled: decide", number, lost, 0)
}

// stores counts the machines whose stores are damaged, or are not what the fleet has anchors of. The hubs must run.
func (a *audit) stores() {
	damaged := 0
	for _, m := range a.Machines {
		out, err := m.Run(a.ctx, "stopgate", "log", "verify")
		if err != nil || strings.Contains(out, "not checked") {
			damaged++
			a.Logf("%s: %v\n%s", m.Name, err, out)
		}
	}
	a.enter("stores with damage, or that differ from their anchors", len(a.Machines), damaged, 0)

	flips := 0
	for _, n := range a.flips {
		flips += n
	}
	a.enter("flipped bits that were not named", flips, a.flips[notFound], 0)
}

// table is the result.
func (a *audit) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tof\tcounted\tmust be")
	for _, r := range a.rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", r.what, r.of, r.counted, r.expected)
	}
	_ = w.Flush()
	return out.String()
}

// stopDaemons ends the daemons in good order, with what they started. Their hubs go on.
func (s *stage) stopDaemons() {
	for _, m := range s.Machines {
		if err := s.stopDaemon(m); err != nil {
			s.Error(err)
		}
	}
}

func (s *stage) stopDaemon(m *world.Machine) error {
	if err := insist(s.ctx, func() error { return m.Client.Stop(s.ctx, true) }); err != nil {
		return fmt.Errorf("stop the daemon of %s: %w", m.Name, err)
	}
	select {
	case <-m.Daemon().Ended:
	case <-time.After(time.Minute):
		_ = m.Daemon().Signal(syscall.SIGQUIT) // it prints what it is doing
		<-m.Daemon().Ended
		return fmt.Errorf("the daemon of %s did not end: see %s/daemon.out", m.Name, m.Home)
	}
	return nil
}

// stopHubs ends the hubs, and counts what is left then.
func (s *stage) stopHubs() (left []string) {
	for _, m := range s.Machines {
		if err := world.Signal(hubs(m), syscall.SIGTERM); err != nil {
			s.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	return s.Left(ctx)
}
