package supervisor

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() { children["count"] = childCount }

// waitForStart keeps a child until together lets all of them go.
func waitForStart() { _, _ = io.Copy(io.Discard, os.Stdin) }

// together runs children that start their work at once, and waits for them.
func together(t *testing.T, processes int, name string, args func(i int) []string) {
	t.Helper()
	start, gate, err := os.Pipe()
	check(t, err)
	cmds := make([]*exec.Cmd, processes)
	for i := range cmds {
		cmds[i] = processtest.Child(t, name, args(i)...)
		cmds[i].Stdin = start
		check(t, cmds[i].Start())
	}
	check(t, start.Close())
	check(t, gate.Close())
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s %d: %v", name, i, err)
		}
	}
}

// childCount counts one in each of the sessions, in all of them at once.
func childCount(args []string) error {
	waitForStart()
	sessions := args[1:]
	done := make(chan error)
	for _, session := range sessions {
		go func() {
			_, err := At(args[0]).Update(context.Background(), session, time.Now(), func(s *State) error {
				s.Count++
				s.Record(Review{Cost: Cost{USD: 0.25, InputTokens: 1}})
				return nil
			})
			done <- err
		}()
	}
	var failed error
	for range sessions {
		if err := <-done; err != nil {
			failed = err
		}
	}
	return failed
}

// Five hundred updates of fifty sessions at once.
func TestCrowdKeepsExactCounts(t *testing.T) {
	const processes, each, sessions = 50, 10, 50
	d := newDir(t)
	name := func(i int) string { return fmt.Sprintf("session-%d", i%sessions) }
	together(t, processes, "count", func(i int) []string {
		args := []string{d.path}
		for j := range each {
			args = append(args, name(i+j))
		}
		return args
	})
	const want = processes * each / sessions
	for i := range sessions {
		s := readState(t, d, name(i))
		if s.Damaged || s.Count != want || s.Reviews != want || s.Spent != (Cost{USD: want * 0.25, InputTokens: want}) {
			t.Errorf("%s: %+v", name(i), s)
		}
	}
	entries, err := os.ReadDir(d.path)
	check(t, err)
	if len(entries) != 2*sessions { // the states and their locks
		t.Errorf("%d files, want %d", len(entries), 2*sessions)
	}
}
