package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/test/fleet/world"
)

// person sits at a machine, and sees to what is asked there and elsewhere.
type person struct {
	*stage
	at   *world.Machine
	done map[string]bool // what was acknowledged
}

func newPerson(s *stage, at *world.Machine) *person { return &person{s, at, map[string]bool{}} }

// work answers what is asked and writes to those that wait for it. What fails is tried again later: the list is
// asked for again.
func (p *person) work(ctx context.Context) {
	for pause.For(ctx, 200*time.Millisecond) == nil {
		open, err := p.at.Client.Decisions(ctx, false)
		if err != nil {
			continue
		}
		for _, d := range open {
			if p.responsible(d.ID) == p.at.Number {
				p.answer(ctx, d)
			}
		}
		agents, err := p.at.Client.Agents(ctx)
		if err != nil {
			continue
		}
		for _, a := range agents {
			if a.Name == "told" && a.Status == "running" && p.responsible(a.ID) == p.at.Number {
				p.write(ctx, a)
			}
		}
	}
}

// answer answers a decision, once.
func (p *person) answer(ctx context.Context, d daemonapi.Decision) {
	if p.done[d.ID] {
		return
	}
	answer := daemonapi.Answer{ID: d.ID}
	if len(d.Options) > 0 && d.Options[0].Name == "wait" { // a job whose machine is lost
		p.decide(ctx, d)
		return
	}
	switch d.Source {
	case "signal", "prompt":
		answer.Message = "Go on, " + d.ID
	case "idle":
		answer.Option = "done"
	default: // dead, lost
		answer.Option = "retry"
	}
	begun := time.Now()
	_, err := p.at.Client.Answer(ctx, d.ID, answer)
	p.tell(err, "answer", d.ID, answer.Option+answer.Message, d.Host, time.Since(begun))
}

// decide says what is to become of a job whose machine is lost. A person looks first: where the machine has crashed,
// the job is done again, and otherwise it is waited for.
func (p *person) decide(ctx context.Context, d daemonapi.Decision) {
	answer := daemonapi.Answer{ID: d.ID, Option: "wait"}
	for _, m := range p.Machines {
		if m.Name == d.Host && len(m.Processes()) == 0 {
			answer.Option = "again"
		}
	}
	_, err := p.at.Client.Answer(ctx, d.ID, answer)
	p.tell(err, "decide", d.ID, answer.Option, "", 0)
}

// write writes to an agent, once.
func (p *person) write(ctx context.Context, a daemonapi.Agent) {
	if p.done[a.ID] {
		return
	}
	message := "Begin, " + a.ID
	begun := time.Now()
	_, err := p.at.Client.Send(ctx, a.ID, daemonapi.Send{ID: a.ID, Message: message})
	p.tell(err, "send", a.ID, message, a.Host, time.Since(begun))
}

// tell notes what became of a request. One that was overtaken is over; what is not known is asked again, under
// the same id.
func (p *person) tell(err error, what, id, text, host string, took time.Duration) {
	var refused *daemonapi.Error
	switch {
	case err == nil:
		p.done[id] = true
		p.acknowledged(what, id, text)
		if host != "" {
			p.remote(took)
		}
	case errors.As(err, &refused) && (refused.Code == "conflict" || refused.Code == "not_found"):
		p.done[id] = true
	}
}
