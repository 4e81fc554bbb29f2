package daemon

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// clocked is a core with timers that run, in a bubble.
func clocked(t *testing.T) *core {
	t.Helper()
	c := testCore(newMemory(t))
	timers := newTimers(c)
	c.changed = timers.changed
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); timers.run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

// nudged is an owner whose agent is nudged again after a cooldown.
func nudged(t *testing.T, c *core, id string, cooldown time.Duration) string {
	t.Helper()
	in := create(id, agentPlan(runbook.Action{Kind: runbook.Nudge, Message: "go on", Attempts: runbook.Forever, Cooldown: cooldown}))
	in.Time = time.Now()
	do(t, c, id, in)
	done(t, c, id)
	idle(t, c, id, "p1")
	done(t, c, id)
	return c.owner(id).Agent.ID
}

func idle(t *testing.T, c *core, id, prompt string) {
	t.Helper()
	do(t, c, id, engine.Input{ID: "idle:" + prompt, Journal: true, What: engine.AgentIdle{AgentID: c.owner(id).Agent.ID, Prompt: prompt}})
}

// sends are the messages that an owner's agent is to get.
func sends(c *core, id string) (texts []string) {
	for _, e := range c.owner(id).Effects {
		if e.Kind == engine.SendAgent {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func TestATimerFiresWhenItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked(t)
		nudged(t, c, anID, 10*time.Minute)
		nudged(t, c, anotherID, 5*time.Second) // later, and due earlier
		idle(t, c, anID, "p2")
		idle(t, c, anotherID, "p2")
		if len(c.owner(anID).Timers) != 1 || len(c.owner(anotherID).Timers) != 1 {
			t.Fatal("no timers to test with")
		}
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		if len(sends(c, anID))+len(sends(c, anotherID)) != 0 {
			t.Error("it fired early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := sends(c, anotherID); !slices.Equal(got, []string{"go on"}) || len(sends(c, anID)) != 0 {
			t.Errorf("after the cooldown: %q, %q", got, sends(c, anID))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := sends(c, anID); !slices.Equal(got, []string{"go on"}) {
			t.Errorf("after the longer cooldown: %q", got)
		}
	})
}

func TestATimerThatWasCancelledDoesNotFire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked(t)
		agent := nudged(t, c, anID, time.Minute)
		idle(t, c, anID, "p2")
		do(t, c, anID, engine.Input{ID: "working", Journal: true, What: engine.AgentWorking{AgentID: agent, Prompt: "p3"}})
		steps := c.owner(anID).Version
		time.Sleep(time.Hour)
		synctest.Wait()
		if c.owner(anID).Version != steps {
			t.Errorf("%+v", c.owner(anID))
		}
	})
}

// A daemon that was away, or whose clock jumped, finds timers that are due long since.
func TestATimerOfThePastFiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory(t)
		c := testCore(s)
		nudged(t, c, anID, time.Minute)
		idle(t, c, anID, "p2")
		time.Sleep(time.Hour)
		state, last, err := load(t.Context(), s)
		check(t, err)
		c = newCore(s, state, last, quiet(), time.Now)
		timers := newTimers(c)
		timers.changed(nil, c.owner(anID))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); timers.run(ctx) }()
		synctest.Wait()
		cancel()
		<-ended
		if got := sends(c, anID); !slices.Equal(got, []string{"go on"}) {
			t.Errorf("%q", got)
		}
	})
}

// The wall clock may go on without ours, when the machine is suspended.
func TestATimerFollowsTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked(t)
		nudged(t, c, anID, 8*time.Hour)
		idle(t, c, anID, "p2")
		synctest.Wait()
		c.mu.Lock()
		c.now = func() time.Time { return time.Now().Add(8 * time.Hour) }
		c.mu.Unlock()
		time.Sleep(longestSleep)
		synctest.Wait()
		if got := sends(c, anID); !slices.Equal(got, []string{"go on"}) {
			t.Errorf("%q", got)
		}
	})
}

// A laptop that slept has not run the step: its time goes on where it was.
func TestAStepsTimeDoesNotPassWhileTheMachineSleeps(t *testing.T) {
	c := testCore(newMemory(t))
	now, awake := time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC), time.Duration(0)
	c.now = func() time.Time { return now }
	timers := newTimers(c)
	timers.awake = func() time.Duration { return awake }
	c.changed = timers.changed
	in := create(anID, shellPlan("build"))
	in.Time = now
	do(t, c, anID, in)
	pass := func(wall, up time.Duration) time.Duration {
		now, awake = now.Add(wall), awake+up
		_, left := timers.next()
		return left
	}
	if left := pass(10*time.Minute, 10*time.Minute); left != 50*time.Minute {
		t.Fatalf("%s are left", left)
	}
	if left := pass(8*time.Hour, 0); left != 50*time.Minute {
		t.Fatalf("after a night %s are left", left)
	}
	if left := pass(50*time.Minute, 50*time.Minute); left > 0 {
		t.Fatalf("%s are left of an hour", left)
	}

	t.Run("a short time is not made longer", func(t *testing.T) {
		if a := timers.newAlarm(anID, engine.StepTimeout, now.Add(time.Second)); a.awake != awake+time.Second {
			t.Fatalf("it fires in %s", a.awake-awake)
		}
	})
	t.Run("a daemon that starts late hears of the end first", func(t *testing.T) {
		timers := newTimers(c)
		awake = 0
		timers.awake = func() time.Duration { return awake }
		timers.changed(nil, c.owner(anID))
		if _, left := timers.next(); left != reportTime {
			t.Fatalf("it fires in %s", left)
		}
	})
}
