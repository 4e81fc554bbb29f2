//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
)

// crowd measures many sessions whose queues move on at the same time.
func crowd(ctx context.Context, l *lab, r *report) error {
	const sessions = 200
	s, err := l.newStage(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	names := make([]string, sessions)
	for i := range names {
		names[i] = fmt.Sprintf("crowd-%03d", i)
	}
	if err := s.populate(ctx, append(names, "alone")); err != nil {
		return err
	}
	var alone, all, bare series
	slowest := time.Duration(0)
	for range 3 {
		took, _, err := s.runQueues(ctx, "alone")
		if err != nil {
			return err
		}
		alone.add(took, 0)
		took, slow, err := s.runQueues(ctx, names...)
		if err != nil {
			return err
		}
		all.add(took, 0)
		slowest = max(slowest, slow)
		if took, err = s.bareHooks(ctx, sessions); err != nil {
			return err
		}
		bare.add(took, 0)
	}
	commands := len(crowdCommands("x"))
	hooks := sessions * commands * 2 // a prompt and a stop
	r.table(fmt.Sprintf("**%d sessions at once**, each with a queue of %d commands, none of which may be missed", sessions, commands))
	r.reference(fmt.Sprintf("%d calls of stopgate hook alone", hooks), &bare)
	r.reference("one session alone", &alone)
	about := fmt.Sprintf("%d sessions", sessions)
	r.row(about, &all, figure{all.ratioTo(&bare), "times the hooks alone", 0})
	r.row(about, &all, figure{all.ratioTo(&alone), "times one session", 0})
	r.row(about, &all, figure{float64(hooks) / all.median().Seconds(), "hooks a second", 0})
	r.row(about, &all, figure{slowest.Seconds(), "s for the slowest session", 0})
	return nil
}

// crowdCommands are no other session's.
func crowdCommands(session string) []string {
	return []string{"/gsd:plan-phase " + session, "Run the tests of " + session + ".\nThen fix what fails.", "/gsd:verify-work " + session}
}

// populate starts a stand-in client in each session and waits until all have told of
// themselves.
func (s *stage) populate(ctx context.Context, sessions []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range sessions {
		if _, err := s.open(ctx, name, self, "stand-in-client", s.stopgate, name); err != nil {
			return err
		}
	}
	book := presence.NewBook(s.path("state"))
	return until(ctx, "every client tells of itself", func() bool { return len(book.All()) == len(sessions) })
}

// runQueues gives every session a queue, all at once. They took as long as it was until
// the last of them was complete.
func (s *stage) runQueues(ctx context.Context, sessions ...string) (took, slowest time.Duration, err error) {
	start := time.Now()
	err = each(sessions, func(name string) error { return s.order(ctx, name) })
	if err != nil {
		return 0, 0, err
	}
	store := queue.NewStore(s.path("state"))
	var missed []error
	for _, name := range sessions {
		if err := until(ctx, "the queue of "+name+" ends", func() bool { return !store.Exists(name) }); err != nil {
			return 0, 0, err
		}
		created, done, err := completed(store, name)
		if err != nil {
			missed = append(missed, err)
		}
		took, slowest = max(took, done.Sub(start)), max(slowest, done.Sub(created))
	}
	if len(missed) > 0 {
		return 0, 0, fmt.Errorf("%d of %d queues were not completed: %w", len(missed), len(sessions), missed[0])
	}
	return took, slowest, nil
}

func (s *stage) order(ctx context.Context, session string) error {
	commands, err := json.Marshal(crowdCommands(session))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.stopgate, "queue", "create", "--session", session, string(commands))
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// completed reports when the session's last queue was, if every command of it got its
// own answer.
func completed(store queue.Store, session string) (created, done time.Time, err error) {
	last, err := store.Last(session)
	if err := errors.Join(err, last.Err); err != nil {
		return created, done, err
	}
	for i, command := range crowdCommands(session) {
		c := last.Queue.Commands[i]
		if c.Status != queue.Done || c.Command != command || c.Result == nil || *c.Result != answerTo(command) {
			text, _ := json.Marshal(last.Queue) // plain data always encodes
			return created, done, fmt.Errorf("session %s: %s", session, text)
		}
		done = c.CompletedAt.Time
	}
	return last.Queue.Stopgate.CreatedAt.Time, done, nil
}

// bareHooks calls as many hooks as that many sessions do, outside tmux.
func (s *stage) bareHooks(ctx context.Context, sessions int) (time.Duration, error) {
	start := time.Now()
	err := each(make([]int, sessions), func(int) error {
		for range crowdCommands("x") {
			for event, fields := range map[string]map[string]any{
				"UserPromptSubmit": {"session_id": "bench", "prompt_id": "p", "prompt": "x"},
				"Stop":             {"session_id": "bench", "prompt_id": "p", "stop_hook_active": false, "last_assistant_message": "x"},
			} {
				cmd := exec.CommandContext(ctx, s.stopgate, "hook", event)
				cmd.Env = s.env
				if err := callHook(cmd, event, fields); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return time.Since(start), err
}

// each does something for all of them at once.
func each[T any](all []T, do func(T) error) error {
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, one := range all {
		group.Go(func() { errs[i] = do(one) })
	}
	group.Wait()
	return errors.Join(errs...)
}
