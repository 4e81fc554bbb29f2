package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// call is one call of a hook.
type call struct {
	machine int
	begun   time.Time
	took    time.Duration
	blocked bool
	failed  string // it did not answer: what it said
}

// hooks has a client stop on each machine, again and again, in a project with nothing to enforce: whatever is cut or
// killed, it must be allowed to.
func (s *stage) hooks(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range s.Machines {
		all.Go(func() {
			for i := 0; pause.For(ctx, 500*time.Millisecond) == nil; i++ {
				s.hook(ctx, m, i)
			}
		})
	}
	all.Wait()
}

// hook is one stop. What ends with its machine, or with the test, is not counted.
func (s *stage) hook(ctx context.Context, m *world.Machine, i int) {
	cmd := m.Command(ctx, "stopgate", "hook", "Stop")
	cmd.Dir = s.root(m)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"person","prompt_id":"p%d","transcript_path":"%[2]s/t.jsonl","cwd":"%[2]s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done."}`,
		i, m.Home))
	c := call{machine: m.Number, begun: time.Now()}
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	c.took, c.blocked = time.Since(c.begun), strings.Contains(string(out), `"block"`)
	if err != nil {
		if ctx.Err() != nil || s.crashed(m.Number, c.begun) {
			return
		}
		c.failed = fmt.Sprintf("%v: %s%s", err, problem.String(), out)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// crashed reports whether a machine crashed or stood still at a moment, or since.
func (s *stage) crashed(machine int, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.spans {
		if sp.kind == crash && sp.on == machine && sp.to.After(at) {
			return true
		}
	}
	return s.current.kind == crash && s.current.on == machine
}

// cutAt reports whether a machine was cut off from others, or the hubs were down, at a moment.
func (s *stage) cutAt(machine int, at time.Time) bool {
	for _, sp := range s.spans {
		if at.Before(sp.from) || at.After(sp.to) {
			continue
		}
		switch sp.kind {
		case cutMachine, cutPair, cutOneWay:
			if sp.on == machine || sp.other == machine && sp.kind != cutMachine {
				return true
			}
		case cutLeader, pauseHub, killHubs, killHub:
			return true
		}
	}
	return false
}
