// Package fleet breaks a fleet, in ways that a seed decides, while pipelines, agents and jobs run on its
// machines, and then counts: nothing may have been done twice or lost.
//
// The small run is for CI; make chaos-fleet is the full one. FLEET_SEED gives the faults of an earlier run again.
package fleet

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// fault is something that goes wrong, at once or for a while.
type fault struct {
	kind  kind
	on    int // a machine
	other int // another one
	after time.Duration
	lasts time.Duration
	pick  uint64 // what else is left to chance
}

type kind string

const (
	killDaemon   kind = "kill daemon"
	killHub      kind = "kill hub"
	killAgent    kind = "kill agent"
	killHubs     kind = "kill all hubs"
	crash        kind = "crash machine"
	pauseDaemon  kind = "pause daemon"
	pauseHub     kind = "pause hub"
	pauseMachine kind = "pause machine"
	cutMachine   kind = "cut machine"
	cutLeader    kind = "cut leader"
	cutOneWay    kind = "cut one way"
	cutPair      kind = "cut pair"
	fullDisk     kind = "full disk"
	flipBit      kind = "flip bit"
	emptyHub     kind = "empty hub"
	slowSync     kind = "slow sync"
	moveClock    kind = "move clock"
	olderDaemon  kind = "older daemon"
)

// share is how many of a hundred faults are of a kind, and how long they last: most of them not much longer than
// the shortest.
type share struct {
	kind              kind
	of                int
	shortest, longest time.Duration
}

var shares = []share{
	{killDaemon, 12, 0, 0},
	{killHub, 11, 0, 0},
	{killAgent, 12, 0, 0},
	{killHubs, 5, 0, 0},
	{crash, 5, 0, 90 * time.Second},
	{pauseDaemon, 6, 5 * time.Second, 90 * time.Second},
	{pauseHub, 5, 5 * time.Second, 30 * time.Second},
	{pauseMachine, 4, 5 * time.Second, 90 * time.Second},
	{cutMachine, 8, 2 * time.Second, 90 * time.Second},
	{cutLeader, 5, 5 * time.Second, 20 * time.Second},
	{cutOneWay, 6, 2 * time.Second, 20 * time.Second},
	{cutPair, 5, 2 * time.Second, 20 * time.Second},
	{fullDisk, 2, 2 * time.Second, 10 * time.Second},
	{flipBit, 2, 0, 0},
	{emptyHub, 2, 0, 0},
	{slowSync, 4, 5 * time.Second, 30 * time.Second},
	{moveClock, 4, 5 * time.Second, 60 * time.Second},
	{olderDaemon, 2, 5 * time.Second, 60 * time.Second},
}

// plan is so many faults, in an order and at moments that the seed decides. Kinds that are left out give their
// place to others. All times are this part of what they are in the full run.
func plan(seed uint64, faults, machines int, part float64, without ...kind) []fault {
	rng := rand.New(rand.NewPCG(seed, 20))
	left := map[kind]bool{}
	for _, k := range without {
		left[k] = true
	}
	var deck []share
	for _, s := range shares {
		for range s.of {
			if !left[s.kind] {
				deck = append(deck, s)
			}
		}
	}

	var all []fault
	for i := range faults {
		if i%len(deck) == 0 {
			rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		s := deck[i%len(deck)]
		on, chance := rng.IntN(machines), rng.Float64()
		if s.kind == fullDisk { // the last machine has the small one
			on = machines - 1
		}
		all = append(all, fault{
			kind: s.kind, on: on, other: (on + 1 + rng.IntN(machines-1)) % machines, pick: rng.Uint64(),
			after: time.Duration(part * rng.Float64() * float64(3*time.Second)),
			lasts: time.Duration(part * (float64(s.shortest) + chance*chance*float64(s.longest-s.shortest))),
		})
	}
	return all
}

// says is the fault in a line.
func (f fault) says(name func(machine int) string) string {
	text := string(f.kind)
	switch f.kind {
	case killHubs, cutLeader:
	case cutPair:
		text += ": " + name(f.on) + " and " + name(f.other)
	case cutOneWay:
		text += ": " + name(f.on) + " to " + name(f.other)
	default:
		text += ": " + name(f.on)
	}
	if f.lasts > 0 {
		text += fmt.Sprintf(", %.1f s", f.lasts.Seconds())
	}
	return text
}
