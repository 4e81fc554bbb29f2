//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	stopgate "github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// site is the real daemon with its web page, and a browser's cookie for it.
type site struct {
	*stopgate.Client
	state    string
	env      []string // that leads programs to the daemon
	daemon   *exec.Cmd
	journal  *journal.Journal
	sessions int
	browser  *http.Client
	url      string
	link     func(context.Context) (string, error) // a new one to sign in by
	told     int                                   // events that feed has told
	marks    int
	resident float64 // bytes of the daemon, while browsers look on
}

// site makes a state directory with so many sessions and pipelines that have ended, starts the daemon in
// it, and signs in.
func (l *lab) site(ctx context.Context, name string, sessions, pipelines int) (*site, error) {
	state, err := l.state(name)
	if err != nil {
		return nil, err
	}
	if err := fillEnded(ctx, database(state), pipelines); err != nil {
		return nil, err
	}
	s := &site{
		Client: stopgate.New(filepath.Join(state, "daemon.sock"), "bench"), state: state, env: []string{"STOPGATE_STATE_DIR=" + state},
		journal: journalOf(state), sessions: sessions,
	}
	if err := s.fillSessions(); err != nil {
		return nil, err
	}
	s.daemon = exec.CommandContext(ctx, l.other, "daemon")
	s.daemon.Env = slices.Concat(l.env, s.env)
	if err := s.daemon.Start(); err != nil {
		return nil, err
	}
	s.link = func(ctx context.Context) (string, error) { return l.ui(ctx, s.env) }
	if err := s.ready(ctx, pipelines); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *site) ready(ctx context.Context, pipelines int) error {
	err := until(ctx, "the daemon is ready", func() bool { _, err := s.Status(ctx); return err == nil })
	if err != nil {
		return err
	}
	status, err := s.Status(ctx)
	if err != nil || status.Pipelines.Done != pipelines {
		return fmt.Errorf("the daemon has %+v: %w", status, err)
	}
	link, err := s.link(ctx)
	if err != nil {
		return err
	}
	return s.signIn(ctx, link)
}

func (s *site) close() {
	_ = s.Stop(context.Background(), true) // it may never have been ready
	_ = s.daemon.Wait()
}

// ui is the link that stopgate ui prints.
func (l *lab) ui(ctx context.Context, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, l.stopgate, "ui", "--yes", "--json")
	cmd.Env = slices.Concat(l.env, env)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("stopgate ui: %w\n%s", err, out)
	}
	var ui stopgate.UI
	return ui.Link, json.Unmarshal(out, &ui)
}

// signIn takes the cookie that a link is good for.
func (s *site) signIn(ctx context.Context, link string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	s.browser = &http.Client{Jar: jar}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, http.NoBody)
	if err != nil {
		return err
	}
	s.url = r.URL.Scheme + "://" + r.URL.Host
	answer, err := s.browser.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Request.URL.Path != "/" {
		return fmt.Errorf("the link leads to %s: %s", answer.Request.URL, answer.Status)
	}
	return nil
}

// get reads a page.
func (s *site) get(ctx context.Context, address string) ([]byte, error) {
	answer, err := s.ask(ctx, address)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func (s *site) ask(ctx context.Context, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+address, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := s.browser.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		err = errors.New(answer.Status)
	}
	return answer, err
}

// fillEnded makes a store with so many pipelines that have ended.
func fillEnded(ctx context.Context, path string, pipelines int) error {
	return fill(ctx, path, func(hand int, put func(store.NewEvent) (store.Position, error)) error {
		for i := hand; i < pipelines; i += hands {
			l := &life{put: put}
			err := l.work(ownerID(fmt.Sprint(i)))
			if err == nil {
				err = l.end()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fillSessions puts sessions into the journal: a quarter each works, was blocked, has stopped and asks.
func (s *site) fillSessions() error {
	for i := range s.sessions {
		records := []*event.Record{
			{Kind: event.Received, Event: "SessionStart"},
			{Kind: event.Received, Event: "UserPromptSubmit"},
			{Kind: event.Received, Event: "Stop"},
			judgedStop([]string{"block", "allow"}[i%2]),
		}
		switch i % 4 {
		case 2:
			records = append(records, &event.Record{Kind: event.Received, Event: "UserPromptSubmit"})
		case 3:
			records = append(records, asks())
		}
		for _, r := range records {
			if err := s.tell(r, i); err != nil {
				return err
			}
		}
	}
	return s.mark()
}

// judgedStop is a stop that two gates have judged.
func judgedStop(decision string) *event.Record {
	outcome := map[string]string{"block": event.GateFailed, "allow": event.GatePassed}[decision]
	return &event.Record{
		Kind: event.Answered, Event: "Stop", Decision: decision, DurationMS: 1900,
		Verdicts: []event.Verdict{{Keeper: "gates", Outcome: outcome, Blocked: decision == "block", Message: "check:.:test " + outcome}},
		Trees: []event.Tree{{Root: "/home/user/src/project", Status: outcome, Gates: []event.Gate{
			{Job: "check:.:test", Outcome: outcome, DurationMS: 1200}, {Job: "check:.:lint", Outcome: event.GatePassed, DurationMS: 700},
		}}},
	}
}

func asks() *event.Record {
	return &event.Record{Kind: event.Received, Event: "Notification", Enums: event.Enums{NotificationType: "permission_prompt"}}
}

func sessionID(i int) string { return fmt.Sprintf("5d0e7f31-0000-4000-8000-%012d", i) }

// tell appends a session's record to the journal, as a hook does.
func (s *site) tell(r *event.Record, session int) error {
	r.Call, r.Session, r.Time = journal.NewID(), sessionID(session), time.Now()
	if r.Project == "" {
		r.Project = fmt.Sprintf("/home/user/src/project-%03d", session%300)
	}
	_, err := s.journal.Append(r)
	return err
}

// The session whose records can be known again in a page.
const (
	marked        = 999_999
	markedSession = "5d0e7f31-0000-4000-8000-000000999999"
)

// mark has the marked session ask in a new project, whose name mark tells.
func (s *site) mark() error {
	s.marks++
	r := asks()
	r.Project = "/home/user/src/" + markName(s.marks)
	return s.tell(r, marked)
}

func markName(n int) string { return fmt.Sprintf("mark-%06d", n) }

// feed tells 200 events a second, until its end is called: all sessions in turns get a prompt, want to
// stop, and are answered.
func (s *site) feed(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second / 200)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				done <- nil
				return
			case <-tick.C:
			}
			if err := s.tellNext(); err != nil {
				done <- err
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-done
	}
}

func (s *site) tellNext() error {
	turn := s.told / s.sessions
	next := []*event.Record{{Kind: event.Received, Event: "UserPromptSubmit"}, {Kind: event.Received, Event: "Stop"}, judgedStop("block"), judgedStop("allow")}[turn%4]
	session := s.told % s.sessions
	s.told++
	return s.tell(next, session)
}
