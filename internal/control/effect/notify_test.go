package effect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// hold lets nobody be told anything for a time.
func (w *world) hold(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = time.Now().Add(d)
}

// What is held has no start on record, so that nobody takes it for sent after a crash.
func TestHeldMessages(t *testing.T) {
	for name, c := range map[string]struct {
		then func(t *testing.T, w *world)
		want []string
	}{
		"before the end": {
			func(*testing.T, *world) { time.Sleep(9*time.Hour - time.Second) },
			nil,
		},
		"at the end": {
			func(*testing.T, *world) { time.Sleep(9*time.Hour + time.Second) },
			[]string{"started 1", "notify title text", "done 1"},
		},
		"the decision is settled": {
			func(_ *testing.T, w *world) { w.put(open("o")) },
			[]string{"done 1"},
		},
		"something else changes": {
			func(_ *testing.T, w *world) { w.add("o", aim("2", engine.KillShell, "s")) },
			[]string{"started 2", "kill s", "done 2"},
		},
		"a person wants to be told": {
			func(_ *testing.T, w *world) {
				w.hold(0)
				time.Sleep(longestHold)
			},
			[]string{"started 1", "notify title text", "done 1"},
		},
		"the daemon stops": {
			func(t *testing.T, w *world) { check(t, w.worker.Stop(t.Context())) },
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.hold(9 * time.Hour)
				w.put(open("o", fresh(aim("1", engine.NotifyPerson, ""))))
				synctest.Wait()
				c.then(t, w)
				w.want(t, c.want...)
			})
		})
	}
}

// One owner's quiet hours are not another's.
func TestHeldMessagesHoldUpNobodyElse(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.hold(time.Hour)
		w.put(open("quiet", fresh(aim("1", engine.NotifyPerson, "")), fresh(aim("2", engine.NotifyPerson, ""))))
		synctest.Wait()
		w.hold(0)
		w.put(open("loud", fresh(aim("3", engine.NotifyPerson, ""))))
		w.want(t, "started 3", "notify title text", "done 3")
		time.Sleep(longestHold)
		synctest.Wait()
		if diff := cmp.Diff([]string{"started 1", "notify title text", "done 1", "started 2", "notify title text", "done 2"}, w.read()[3:]); diff != "" {
			t.Error(diff)
		}
	})
}

// A message that failed is not sent again, and does not keep the next one.
func TestFailedMessages(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.act = func(what string) error {
			if strings.HasPrefix(what, "notify") {
				return errors.New("nobody listens")
			}
			return nil
		}
		w.put(open("o", fresh(aim("1", engine.NotifyPerson, "")), fresh(aim("2", engine.NotifyPerson, ""))))
		synctest.Wait()
		time.Sleep(time.Hour)
		w.want(t, "started 1", "notify title text", "failed 1: nobody listens", "started 2", "notify title text", "failed 2: nobody listens")
	})
}

// What the notifier gets is the whole effect, with the decision that it tells of.
func TestNotifierLearnsTheDecision(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		told := make(chan string, 1)
		w.worker.opts.Notifier = decisionOf(told)
		e := aim("1", engine.NotifyPerson, "")
		e.Decision = "o-1"
		w.put(open("o", fresh(e)))
		synctest.Wait()
		if got := <-told; got != "o /p o-1" {
			t.Errorf("it learns %q", got)
		}
	})
}

type decisionOf chan string

func (decisionOf) Held(*engine.Owner) time.Duration { return 0 }

func (d decisionOf) Notify(_ context.Context, o *engine.Owner, e engine.Effect) error {
	d <- o.ID + " " + o.Project + " " + e.Decision
	return nil
}
