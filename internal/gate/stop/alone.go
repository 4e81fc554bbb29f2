package stop

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

// StopHook, SupervisorHook and AgentStop answer a stop by one keeper alone. This is what they
// share: they read, locate, record and tell as the chain does, and count nothing.

func readStop(stdin io.Reader) (*hook.StopPayload, error) {
	raw, err := hook.Read(stdin, hook.ReadPatience)
	if err != nil {
		return nil, err
	}
	return hook.DecodeStop(raw)
}

// receiveStop writes down that the stop has come, and finds its place.
func (c *call) receiveStop(payload *hook.StopPayload) (event.Record, Place) {
	rec := c.receive(payload, nil)
	return rec, c.locate(rec.Project, payload)
}

// judgeAlone has one keeper judge a stop, unless none may act at the place. last is the
// verdict that decides.
func (c *call) judgeAlone(place Place, judge func() keeper.Verdict) (j Judgement, last keeper.Verdict) {
	j.Blocked = -1
	if place.Off {
		return j, place.Verdicts[len(place.Verdicts)-1]
	}
	last = judge()
	j.add(last)
	return j, last
}

// askAlone asks one keeper, as the chain would.
func (c *call) askAlone(ctx context.Context, k keeper.Keeper, call *keeper.Call, timeout time.Duration) keeper.Verdict {
	ctx, cancel := c.limit(ctx, timeout)
	defer cancel()

	chain := Chain{Now: c.Now, Log: c.logf, Grace: grace(timeout)}
	return chain.ask(ctx, k, call)
}

// concludeAlone records and tells what a keeper made of a stop that no gate was asked about.
func (c *call) concludeAlone(rec event.Record, payload *hook.StopPayload, place Place, j Judgement, noGates string) {
	note(&rec, place, j)
	rec.Trees = gauntlet.NotAsked(place.Project, c.global, c.Environ, noGates)
	c.write(rec, event.Answered)
	c.tell(payload, place.Root, j)
}

func (c *call) warnGlobal() {
	if c.globalErr != nil {
		c.logf("warning: %v; invalid sections fall back to the defaults", c.globalErr)
	}
}

// messages are what the person is to hear: about the place, of the keeper, and that the
// journal could not be written.
func (c *call) messages(about []keeper.Verdict, message string) (lines []string) {
	for _, v := range about {
		if !strings.Contains(message, v.Message) { // else it is said below
			lines = append(lines, v.Message)
		}
	}
	if message != "" {
		lines = append(lines, message)
	}
	if c.journalErr != nil {
		lines = append(lines, c.journalErr.Error())
	}
	return lines
}
