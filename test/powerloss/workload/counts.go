package workload

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
)

// noon is when everything happens: no clock decides what is kept.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// runs are the failing runs of a gate in the ledger.
type runs struct{ ledger *ledger.Ledger }

func newLedger(state string) Part { return runs{ledger.Open(state, "/p")} }

func (runs) Name() string { return "ledger" }

func (r runs) Do(n int) error {
	return r.ledger.Update(context.Background(), func(s *ledger.State) error {
		s.Record(ledger.Run{
			Now: noon, Tree: "t", MaxRetries: 1 << 30, Answers: true,
			Gates: []ledger.GateRun{{Job: "check:.:lint", Kind: "check", Definition: "d", Result: ledger.Failed, Message: content("ledger", n)}},
		})
		return nil
	})
}

func (r runs) Check(acked int) (seen Seen, err error) {
	s, err := r.ledger.Read()
	if err != nil {
		return seen, err
	}
	if s.Damaged {
		return seen, damaged("the ledger")
	}
	message := ""
	if open, ok := s.Failure("check:.:lint"); ok {
		message = open.Message
	}
	seen.Last = s.Series.Failures
	if err := same("ledger", seen.Last, message); err != nil {
		return seen, err
	}
	return seen, counted(seen.Last, acked)
}

// reviews are those of a supervised session.
type reviews struct{ dir supervisor.Dir }

func newSupervisor(state string) Part {
	return reviews{supervisor.At(filepath.Join(state, "supervisor"))}
}

func (reviews) Name() string { return "supervisor" }

func (r reviews) Do(n int) error {
	_, err := r.dir.Update(context.Background(), "session", noon, func(s *supervisor.State) error {
		if !s.Begin("prompt", 1<<20) {
			return fmt.Errorf("review %d was not counted", n)
		}
		s.Record(supervisor.Review{At: noon, PromptID: "prompt", Feedback: content("supervisor", n)})
		return nil
	})
	return err
}

func (r reviews) Check(acked int) (seen Seen, err error) {
	s, err := r.dir.Read("session")
	if err != nil {
		return seen, err
	}
	if s.Damaged {
		return seen, damaged("the supervisor's state")
	}
	feedback := ""
	if s.Last != nil {
		feedback = s.Last.Feedback
	}
	if seen.Last = s.Count; s.Reviews != s.Count {
		return seen, notWritten("%d reviews and a count of %d", s.Reviews, s.Count)
	}
	if err := same("supervisor", seen.Last, feedback); err != nil {
		return seen, err
	}
	return seen, counted(seen.Last, acked)
}

// blocks are the counted blocks of a prompt.
type blocks struct{ counter stop.Counter }

func newBlocks(state string) Part { return blocks{stop.NewCounter(state)} }

func (blocks) Name() string { return "blocks" }

func (b blocks) Do(n int) error {
	refusal, err := b.counter.Claim(stop.Turn{Session: "session", Prompt: "prompt"}, false, "guard", noon, func(map[string]int) string { return "" })
	if err == nil && refusal != "" {
		err = fmt.Errorf("block %d was refused: %s", n, refusal)
	}
	return err
}

func (b blocks) Check(acked int) (seen Seen, err error) {
	counts, err := b.counter.Blocks(stop.Turn{Session: "session", Prompt: "prompt"})
	if err != nil {
		return seen, err
	}
	seen.Last = counts["guard"]
	return seen, counted(seen.Last, acked)
}
