package web

import (
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

const (
	// fewNow is how many of each kind stand on the page; the others are on pages of their own.
	fewNow   = 12
	fewEnded = 8
	fewAway  = 4
)

// nowPage is what is happening.
type nowPage struct {
	Trouble   []string // of the daemon
	Away      []string // machines of the fleet that do not answer, in words
	MoreAway  int
	Apart     string // why this machine is without its fleet
	Asking    int    // how many wait for a person
	Decisions []daemonapi.Decision
	Calling   []Seen // sessions that ask, failed, or gave up
	Dead      []daemonapi.WorkItem
	MoreDead  bool
	Held      []daemonapi.Owner
	Working   []daemonapi.Owner
	MoreWork  bool
	Busy      []Seen
	MoreBusy  int
	Idle      []Seen
	MoreIdle  int
	Ended     []daemonapi.Owner
	Agents    int
	Running   int
	USD       float64 // of what is running
	Empty     bool
}

// readNow reads what is happening, with what needs a person first.
func readNow(r *Request) (any, error) {
	status := r.Status(r.Context())
	page := nowPage{Trouble: status.Trouble, Agents: status.Agents}
	page.Running = status.Pipelines.Running + status.Pipelines.Queued + status.Runs.Running + status.Runs.Queued
	if err := page.addFleet(r); err != nil {
		return nil, err
	}

	decisions, err := r.Decisions(r.Context(), &api.Query{Limit: fewNow})
	if err != nil {
		return nil, err
	}
	page.Decisions = decisions.Items
	if err := page.addOwners(r); err != nil {
		return nil, err
	}

	dead, err := r.Work(r.Context(), &api.Query{Status: []string{"dead"}, Limit: fewNow})
	if err != nil {
		return nil, err
	}
	page.Dead, page.MoreDead = dead.Items, dead.Next != (api.Place{})
	calling, err := page.addSessions(r.Roster())
	if err != nil {
		return nil, err
	}

	page.Asking = status.Decisions + r.waitingAfar() + calling + len(page.Held) + len(page.Dead)
	page.Empty = page.Asking == 0 && len(page.Working)+len(page.Busy)+len(page.Idle)+len(page.Ended) == 0
	return page, nil
}

// addFleet counts what is on other machines, and says which of them do not answer, or that none does because this
// one has no connection.
func (p *nowPage) addFleet(r *Request) error {
	f := r.Fleet(r.Context())
	for _, m := range f.Members {
		if m.Name != f.Member {
			p.Agents += m.Agents
		}
	}
	away := f.Away()
	for _, m := range away[:min(len(away), fewAway)] {
		p.Away = append(p.Away, m.Why())
	}
	p.MoreAway = len(away) - len(p.Away)
	if f.Name != "" && !f.Connected {
		p.Apart = "This machine is not connected to the fleet " + f.Name + ": what is shown of other machines may be old."
	}
	running, err := r.runningAfar()
	p.Running += running
	return err
}

func (p *nowPage) addOwners(r *Request) error {
	held, err := r.Owners(r.Context(), &api.Query{Status: []string{"held"}, Parent: api.AnyParent, Limit: fewNow})
	if err != nil {
		return err
	}
	p.Held = held.Items

	working, err := r.Owners(r.Context(), &api.Query{Status: []string{"running", "queued", "waiting"}, Limit: 2 * fewNow})
	if err != nil {
		return err
	}
	p.MoreWork = working.Next != (api.Place{})
	for _, o := range working.Items {
		p.USD += o.USD
		if o.Decision == nil { // else it is among those
			p.Working = append(p.Working, o)
		}
	}

	ended, err := r.Owners(r.Context(), &api.Query{Status: []string{"done", "failed", "cancelled"}, Limit: fewEnded})
	p.Ended = ended.Items
	return err
}

// addSessions adds sessions by what they do, and returns how many ask for a person. Those that have ended
// are on the page of sessions.
func (p *nowPage) addSessions(roster *Roster) (calling int, err error) {
	if p.Calling, calling, err = roster.First(fewNow, "asking", "failed", "gave up"); err != nil {
		return 0, err
	}
	busy, idle := 0, 0
	if p.Busy, busy, err = roster.First(fewNow, "busy", "blocked"); err != nil {
		return 0, err
	}
	p.Idle, idle, err = roster.First(fewNow, "stopped")
	p.MoreBusy, p.MoreIdle = busy-len(p.Busy), idle-len(p.Idle)
	return calling, err
}
