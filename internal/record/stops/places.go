package stops

import (
	"cmp"
	"slices"
	"time"
)

const (
	// mostPlaces bounds the projects that are known: those with the latest stops.
	mostPlaces = 2_000
	// mostOpen bounds the stops without an answer, and the blocks that may still prove something, of a project.
	mostOpen = 200
)

// Brief is a stop in short.
type Brief struct {
	ID       string
	Time     time.Time
	Session  string
	Decision Decision
	Gap      *Gap
	Headline string
}

// Place is what the stops of a project tell about whether anything is enforced there.
type Place struct {
	Root    string
	Stops   int
	Last    Brief // the last one that was answered
	Judged  Brief // the last one at which something could have held the agent back
	Blocked Brief
	// Proof is the last stop that followed a block of the same prompt: the agent was held back by that.
	Proof Brief
	// Held is the block that Proof followed.
	Held Brief

	// Unanswered is how many calls got no answer for a while.
	Unanswered int

	open   map[string]time.Time // calls without an answer
	blocks map[block]Brief
}

// block is what a stop has in common with the one after it.
type block struct{ session, prompt string }

// Places are the projects in which agents stopped. Stops are added in the order of the journal.
type Places struct{ all map[string]*Place }

// Add takes a stop of a main agent.
func (p *Places) Add(s *Stop) {
	if s.Project == "" || s.Event != mainStop || s.Adopted {
		return
	}

	place := p.place(s.Project)
	if s.Decision == Unanswered {
		if len(place.open) < mostOpen {
			place.open[s.ID] = s.Time
		}
		return
	}

	delete(place.open, s.ID)
	place.Stops++
	now := Brief{ID: s.ID, Time: s.Time, Session: s.Session, Decision: s.Decision, Gap: s.Gap, Headline: s.Headline()}
	place.Last = now
	if s.Gap == nil {
		place.Judged = now
	}

	key := block{s.Session, s.Prompt}
	if held, was := place.blocks[key]; was && s.AfterBlock {
		place.Proof, place.Held = now, held
	}
	delete(place.blocks, key)
	if s.Decision == Blocked {
		place.Blocked = now
		if len(place.blocks) >= mostOpen {
			clear(place.blocks)
		}
		place.blocks[key] = now
	}
}

func (p *Places) place(root string) *Place {
	place := p.all[root]
	if place != nil {
		return place
	}
	if p.all == nil {
		p.all = map[string]*Place{}
	}
	if len(p.all) >= mostPlaces {
		p.forget()
	}
	place = &Place{Root: root, open: map[string]time.Time{}, blocks: map[block]Brief{}}
	p.all[root] = place
	return place
}

// forget makes room for one more.
func (p *Places) forget() {
	oldest := ""
	for root, place := range p.all {
		if oldest == "" || place.Last.Time.Before(p.all[oldest].Last.Time) {
			oldest = root
		}
	}
	delete(p.all, oldest)
}

// All are the projects, by their roots. Calls that have no answer count if they began before a time.
func (p *Places) All(began time.Time) []Place {
	all := make([]Place, 0, len(p.all))
	for _, place := range p.all {
		one := *place
		for _, at := range one.open {
			if at.Before(began) {
				one.Unanswered++
			}
		}
		one.open, one.blocks = nil, nil
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Place) int { return cmp.Compare(a.Root, b.Root) })
	return all
}
