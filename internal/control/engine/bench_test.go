package engine

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/stopgate/stopgate/internal/control/runbook"
)

// life is what the store has of a pipeline with an agent, of which some went on.
func life(t testing.TB) [][]byte {
	t.Helper()
	a := worker()
	a.OnIdle = runbook.Action{Kind: runbook.Nudge, Attempts: runbook.Forever}
	s := atWork(t, a, "next", "last")
	for i := range 4 {
		s.do(AgentIdle{AgentID: s.agent(), Prompt: fmt.Sprint("prompt", i)})
		s.carryOut()
		in := s.input(AgentWorking{AgentID: s.agent(), Prompt: fmt.Sprint("prompt", i)})
		in.Journal = true
		s.tell(in)
	}
	s.do(AgentStop{s.agent(), "prompt"})
	s.do(Answer{Decision: s.o.Decision.ID, Option: "nudge", Message: "go on"})
	return s.log
}

// replayed is a state of steps that are decoded one after the other, as at the daemon's
// start.
func replayed(t testing.TB, steps int) *State {
	t.Helper()
	lives, state := life(t), NewState()
	for i := range steps {
		id := fmt.Sprintf("%016x", i/len(lives)+1)
		encoded := bytes.ReplaceAll(lives[i%len(lives)], []byte(testOwner), []byte(id))
		step, err := DecodeStep(encoded)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := Apply(state.Owner(id), step)
		if err != nil {
			t.Fatal(err)
		}
		owner.Version = uint64(i + 1)
		state.Put(owner)
	}
	return state
}

func BenchmarkReplay(b *testing.B) {
	for _, steps := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				replayed(b, steps)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(steps), "ns/step")
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	s := asked(b, FromStop)
	in := Input{ID: "x", Time: noon, Journal: true, What: AgentIdle{AgentID: s.agent(), Prompt: "p"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Decide(s.o, in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAgents10000(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(bytesPerAgent(b, 10_000)), "B/agent")
	}
}

// TestAgentsAreSmall holds what the state may take for each agent that is alive.
func TestAgentsAreSmall(t *testing.T) {
	if got := bytesPerAgent(t, 1000); got > 20_000 {
		t.Fatalf("%d bytes for each agent", got)
	} else {
		t.Logf("%d bytes for each agent", got)
	}
}

// bytesPerAgent measures the memory that a state with so many live agents takes.
func bytesPerAgent(t testing.TB, agents int) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	state := replayed(t, agents*len(life(t)))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := state.Len(); n != agents {
		t.Fatalf("%d owners, want %d", n, agents)
	}
	return (after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)) / uint64(agents)
}
