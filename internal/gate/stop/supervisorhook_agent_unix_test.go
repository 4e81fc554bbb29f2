//go:build unix

package stop

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
)

// The client of an agent was given a file of settings besides, which counts as well.
func TestSupervisorHookOfAnAgent(t *testing.T) {
	r := newReviewed(t, "")
	own, err := agentdir.At(r.state, "agent-1")
	check(t, err)
	write(t, own.Path("settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate","args":["hook","Stop"]}]}]}}`)
	wantExactly(t, r.stops(nil), "{}\n")
	r.wantReviews(1)
	r.set(agentdir.Variable + "=agent-1")
	wantExactly(t, r.stops(fields{"prompt_id": "p2"}), "{}\n")
	r.wantReviews(1)
	r.set(agentdir.Variable + "=agent-2")
	wantExactly(t, r.stops(fields{"prompt_id": "p3"}), "{}\n")
	r.wantReviews(2)
}
