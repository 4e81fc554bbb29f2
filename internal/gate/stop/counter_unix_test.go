//go:build unix

package stop

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func blocks(t *testing.T, c Counter, turn Turn) map[string]int {
	t.Helper()
	got, err := c.Blocks(turn)
	check(t, err)
	return got
}

// The counter is a map on disk.
func TestCounterIsAMap(t *testing.T) {
	turns := rapid.Custom(func(t *rapid.T) Turn {
		pick := func(name string) string { return rapid.SampledFrom([]string{"", "a", "../x", "ü\n"}).Draw(t, name) }
		return Turn{Session: pick("session"), Prompt: pick("prompt"), Subagent: pick("agent")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		state := t.TempDir()
		model := map[Turn]map[string]int{}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			c, turn := NewCounter(state), turns.Draw(rt, "turn") // every hook opens it anew
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				_, err := c.Claim(turn, true, "guard", time.Now(), func(map[string]int) string { return "" })
				check(t, err)
				model[turn] = map[string]int{"guard": 1}
			default:
				who := rapid.SampledFrom([]string{"guard", "gates"}).Draw(rt, "keeper")
				check(t, c.Add(turn, who, time.Now()))
				if model[turn] == nil {
					model[turn] = map[string]int{}
				}
				model[turn][who]++
			}
			for turn, want := range model {
				if got := blocks(t, c, turn); !maps.Equal(got, want) {
					rt.Fatalf("%+v: got %v, want %v", turn, got, want)
				}
			}
		}
	})
}

func TestCounterStaysWithinTheStateDirectory(t *testing.T) {
	state := t.TempDir()
	check(t, NewCounter(state).Add(Turn{Session: "../../../../tmp/evil\x00/"}, "guard", time.Now()))
	entries, err := os.ReadDir(filepath.Join(state, "blocks"))
	check(t, err)
	if len(entries) != 2 { // the count and the lock
		t.Errorf("got %v", entries)
	}
}

func TestCounterKeepsTheTurnsThatAreStillBlocked(t *testing.T) {
	c := NewCounter(t.TempDir())
	main := Turn{Session: "s", Prompt: "p"}
	for i := range 2 * maxTallies {
		check(t, c.Add(Turn{Session: "s", Prompt: "p", Subagent: fmt.Sprint(i)}, "guard", time.Now()))
		if i%16 == 0 {
			check(t, c.Add(main, "guard", time.Now()))
		}
	}
	if got := blocks(t, c, main)["guard"]; got != 2*maxTallies/16 {
		t.Errorf("got %d, want %d: a crowd of subagents made the main agent's count start anew", got, 2*maxTallies/16)
	}
	newest := Turn{Session: "s", Prompt: "p", Subagent: fmt.Sprint(2*maxTallies - 1)}
	if got := blocks(t, c, newest)["guard"]; got != 1 {
		t.Errorf("the newest turn has %d blocks, want 1", got)
	}
	tallies, err := c.load("s")
	check(t, err)
	if len(tallies) > maxTallies {
		t.Errorf("%d turns are kept", len(tallies))
	}
}

func TestCounterExactUnderConcurrency(t *testing.T) {
	state := t.TempDir()
	turn := Turn{Session: "s", Prompt: "p"}
	failed := 0
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			// On a slow machine many of 200 may lose patience; that must be told.
			if err := NewCounter(state).Add(turn, "guard", time.Now()); err != nil {
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if got := blocks(t, NewCounter(state), turn)["guard"]; got != 200-failed {
		t.Errorf("got %d, want %d", got, 200-failed)
	}
	if failed == 200 {
		t.Error("all gave up")
	}
}

func TestCounterSurvivesKill(t *testing.T) {
	state := t.TempDir()
	turn := Turn{Session: "s", Prompt: "p"}
	told, round := 0, 0
	for ; round < 15; round++ {
		told += len(processtest.Kill(t, round, 4*time.Millisecond, "add", state))
		// Each killed process may have counted one block that it could not tell.
		got := blocks(t, NewCounter(state), turn)["guard"]
		if got < told || got > told+round+1 {
			t.Fatalf("round %d: counted %d, told %d", round, got, told)
		}
	}
	check(t, NewCounter(state).Add(turn, "guard", time.Now()))
}

func TestForget(t *testing.T) {
	c := NewCounter(t.TempDir())
	now := time.Now()
	for _, session := range []string{"ended", "old", "young"} {
		check(t, c.Add(Turn{Session: session}, "guard", now))
	}
	check(t, os.Chtimes(c.path("old"), now, now.Add(-31*24*time.Hour)))
	check(t, os.Chtimes(filepath.Join(c.dir, lockName), now, now.Add(-31*24*time.Hour)))
	c.Forget("ended", now)
	for session, want := range map[string]bool{"ended": false, "old": false, "young": true} {
		if got := exists(c.path(session)); got != want {
			t.Errorf("%s is there: %t", session, got)
		}
	}
	if !exists(filepath.Join(c.dir, lockName)) {
		t.Error("the lock was removed while others may hold it")
	}
	NewCounter(filepath.Join(t.TempDir(), "nothing")).Forget("s", now)
}

// Hooks that answer at the same moment must not share the last block.
func TestClaimsAreCountedOneByOne(t *testing.T) {
	c := NewCounter(t.TempDir())
	limit := func(blocks map[string]int) string {
		if blocks["guard"] >= 3 {
			return "enough"
		}
		return ""
	}
	granted := make(chan bool)
	for range 20 {
		go func() {
			why, err := c.Claim(Turn{Session: "s", Prompt: "p"}, false, "guard", time.Now(), limit)
			if err != nil {
				t.Error(err)
			}
			granted <- why == ""
		}()
	}
	n := 0
	for range 20 {
		if <-granted {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d blocks were granted, want 3", n)
	}
}

func TestRulingC5TheClientsOwnSettingsCount(t *testing.T) {
	t.Parallel()
	s := newScene(t, "  Stop:\n    - {run: exec sleep 600, timeout: 30m}\n")
	started := newScene(t, "")
	install(t, started, `,"timeout":10`)
	s.env = append(s.env, "CLAUDE_PROJECT_DIR="+started.root)
	wantAllow(t, s.stop(nil), "nothing was checked")
	s.wantVerdict("guard", "could_not_run", "deadline")
}
