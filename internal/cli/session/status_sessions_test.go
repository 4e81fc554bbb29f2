package session

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli/goldentest"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
)

func TestStatusOfSessions(t *testing.T) {
	state := t.TempDir()
	store := queue.NewStore(state)
	for session, q := range testQueues() {
		if session == "fresh" || session == "not-yet" || session == "gone" {
			check(t, store.Create(session, q))
		}
	}
	outbox := wake.NewOutbox(state)
	put := func(agent, key string) wake.Letter {
		l := wake.Letter{Key: key, Kind: wake.Stop, AgentID: agent, Session: "main", Time: noon()}
		check(t, outbox.Put(l))
		return l
	}
	put("calm", wake.Key("1"))
	late := put("late", wake.Key("2"))
	put("late", wake.Key("3"))
	lost := put("lost", wake.Key("4"))
	for range 3 {
		check(t, outbox.Box("late").Tried(late, errors.New("connection\nrefused"), noon(), noon()))
	}
	check(t, outbox.Box("lost").Kill(lost, "no such agent"))
	s, err := ReadSessions(state, t.TempDir())
	check(t, err)
	var out bytes.Buffer
	s.Print(false, func(name, text, hint string) { fmt.Fprintf(&out, "%s|%s|%s\n", name, text, hint) })
	goldentest.Check(t, filepath.Join("queue", "status.txt"), strings.ReplaceAll(out.String(), filepath.Dir(s.Outbox[2].Newest.Path), "DEAD"))
	if m := s.Outbox[1]; m.Waiting != 2 || m.Tries != 3 || !m.Oldest.Equal(noon()) {
		t.Errorf("%+v", m)
	}
	if m := s.Outbox[2]; m.Dead != 1 || m.Newest.Why != "no such agent" {
		t.Errorf("%+v", m)
	}
}

func TestStatusOfNoSessions(t *testing.T) {
	s, err := ReadSessions(t.TempDir(), t.TempDir())
	check(t, err)
	s.Print(false, func(name, text, hint string) { t.Errorf("%s %s %s", name, text, hint) })
}

func TestClock(t *testing.T) {
	for ago, want := range map[time.Duration]string{0: "12:00:00", time.Hour: "11:00:00", 13 * time.Hour: "2026-01-01 23:00:00", 365 * 24 * time.Hour: "2025-01-02 12:00:00"} {
		if got := term.Clock(noon().Add(-ago), noon()); got != want {
			t.Errorf("%v: %s", ago, got)
		}
	}
}
