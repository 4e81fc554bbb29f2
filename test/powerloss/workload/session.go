package workload

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// queues are those of sessions. Operation n makes the queue of session n, which is durable. The
// queue before it is typed from, and the one before that is withdrawn: both may be lost, since the
// terminal is gone, but the queue itself may not.
type queues struct{ store queue.Store }

func newQueue(state string) Part { return queues{queue.NewStore(state)} }

func (queues) Name() string { return "queue" }

func queueSession(n int) string { return fmt.Sprintf("s%d", n) }

func (q queues) Do(n int) error {
	made := queue.New(queueSession(n), queueSession(n), []string{content("queue", n), "/clear"}, noon)
	if err := q.store.Create(queueSession(n), made); err != nil {
		return err
	}
	// Afterwards: what is synced above must not hide what is not synced here.
	if n > 1 {
		if err := q.change(n-1, queue.Begun{ID: 1}, queue.Pressed{ID: 1}); err != nil {
			return err
		}
	}
	if n > 2 {
		return q.change(n-2, queue.Withdrawn{Why: "a person"})
	}
	return nil
}

func (q queues) change(n int, events ...queue.Event) error {
	for _, e := range events {
		apply := func(q queue.Queue) queue.Transition { return queue.Apply(q, e, noon) }
		o, err := q.store.Change(queueSession(n), apply, func(queue.Transition, string) error { return nil })
		if err == nil && !o.Changed {
			err = fmt.Errorf("%T changed nothing in queue %d", e, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (q queues) Check(acked int) (seen Seen, err error) {
	for n := 1; n <= acked+1; n++ {
		found, err := q.find(n)
		switch {
		case errors.Is(err, queue.ErrNone) && n == acked+1:
			continue
		case errors.Is(err, queue.ErrNone):
			return seen, lost("queue %d of %d", n, acked)
		case err != nil:
			return seen, damaged("queue %d: %v", n, err)
		}
		seen.Last = n
		if err := q.checkOne(n, found, acked+1); err != nil {
			return seen, err
		}
	}
	if _, err := q.find(acked + 2); !errors.Is(err, queue.ErrNone) {
		return seen, notWritten("queue %d: %v", acked+2, err)
	}
	return seen, nil
}

// find is a queue under whichever name it has.
func (q queues) find(n int) (queue.Queue, error) {
	found, err := q.store.Load(queueSession(n))
	if !errors.Is(err, queue.ErrNone) {
		return found, err
	}
	last, err := q.store.Last(queueSession(n))
	if err == nil {
		err = last.Err
	}
	return last.Queue, err
}

// checkOne checks a queue: it is in one of the states that it was in until operation begun.
func (q queues) checkOne(n int, found queue.Queue, begun int) error {
	if found.ID() != queueSession(n) || len(found.Commands) != 2 || found.Commands[0].Command != content("queue", n) {
		return notWritten("queue %d has the id %q and %d commands", n, found.ID(), len(found.Commands))
	}
	state, ended := found.Commands[0].State(), found.Stopgate.Ending != nil
	typing := state == queue.Typing || state == queue.Entered
	if state != queue.Waiting && !typing || typing && begun < n+1 || ended && begun < n+2 {
		return notWritten("queue %d is %s (ended: %t), and operation %d was the last to begin", n, state, ended, begun)
	}
	return nil
}

// letters are those that wait for an agent. Operation n puts letter n, and each third one sends the
// oldest afterwards.
type letters struct{ outbox wake.Outbox }

func newOutbox(state string) Part { return letters{wake.NewOutbox(state)} }

func (letters) Name() string { return "outbox" }

const sendEvery = 3

func letterKey(n int) string { return fmt.Sprintf("letter-%d", n) }

func (l letters) Do(n int) error {
	err := l.outbox.Put(wake.Letter{Key: letterKey(n), Kind: wake.Stop, AgentID: "agent", Time: noon, Body: content("outbox", n)})
	if err != nil || n%sendEvery != 0 {
		return err
	}
	box := l.outbox.Box("agent")
	letter, ok, err := box.Next()
	if err == nil && !ok {
		err = errors.New("no letter waits")
	}
	if err != nil {
		return err
	}
	return box.Sent(letter)
}

func (l letters) Check(acked int) (seen Seen, err error) {
	box, sent := l.outbox.Box("agent"), []int{acked / sendEvery, (acked + 1) / sendEvery}
	first := 0
	for {
		letter, ok, err := box.Next()
		if err != nil {
			return seen, err
		}
		if !ok {
			break
		}
		if first == 0 {
			if _, err := fmt.Sscanf(letter.Key, "letter-%d", &first); err != nil {
				return seen, notWritten("a letter with key %q", letter.Key)
			}
			seen.Last = first - 1
		}
		seen.Last++
		if letter.Key != letterKey(seen.Last) {
			return seen, lost("letter %d, before %s", seen.Last, letter.Key)
		}
		if err := same("outbox", seen.Last, letter.Body); err != nil {
			return seen, err
		}
		if err := box.Sent(letter); err != nil {
			return seen, err
		}
	}
	// What Next took for damaged, it set aside.
	if left, err := l.outbox.Summary(); err != nil || len(left) > 0 {
		return seen, damaged("letters are left: %+v, %v", left, err)
	}
	if err := counted(seen.Last, acked); err != nil {
		return seen, err
	}
	if first > 0 && !slices.Contains(sent, first-1) {
		return seen, lost("letter %d is the first to wait, and %v were sent", first, sent)
	}
	return seen, nil
}
