package engine

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"weak"

	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// plans are those that owners have: thousands of owners come of a few runbooks. A plan
// that nobody has any more is not kept.
type plans struct {
	known map[string]weak.Pointer[runbook.Plan]
	sweep int // so many may there be before those are looked for that nobody has
}

// share is the plan that all owners with the same one have.
func (p *plans) share(plan *runbook.Plan) *runbook.Plan {
	if plan == nil {
		return nil
	}
	key, _, err := planKey(plan)
	if err != nil {
		return plan
	}
	if known := p.known[key].Value(); known != nil {
		return known
	}
	if len(p.known) >= p.sweep {
		maps.DeleteFunc(p.known, func(_ string, plan weak.Pointer[runbook.Plan]) bool { return plan.Value() == nil })
		p.sweep = max(2*len(p.known), 64)
	}
	p.known = with(p.known, key, weak.Make(plan))
	return plan
}

// planKey is a hash of the plan's JSON, and that JSON.
func planKey(plan *runbook.Plan) (string, []byte, error) {
	text, err := json.Marshal(plan)
	sum := digest("plan", string(text))
	return hex.EncodeToString(sum[:16]), text, err
}

// snapshotFormat is the version of a snapshot's form.
const snapshotFormat = 1

// snapshot is all owners, with each plan once.
type snapshot struct {
	Format int                        `json:"v"`
	Plans  map[string]json.RawMessage `json:"plans"`
	Owners []storedOwner              `json:"owners"`
	Held   map[string]string          `json:"held,omitempty"`
	Intake intake.State               `json:"intake,omitempty"`
}

// storedOwner is an owner with its plan's key in the place of the plan.
type storedOwner struct {
	*Owner
	Plan    string `json:"plan"`
	Version uint64 `json:"version"`
	Born    uint64 `json:"born,omitempty"`
}

// EncodeState is a snapshot of a state with these owners, some of them held, and these projects. It
// changes none of them.
func EncodeState(owners []*Owner, held map[string]string, projects intake.State) ([]byte, error) {
	all := snapshot{Format: snapshotFormat, Plans: map[string]json.RawMessage{}, Held: held, Intake: projects}
	keys := map[*runbook.Plan]string{}
	for _, o := range owners {
		key, known := keys[o.Plan]
		if !known {
			var text []byte
			var err error
			if key, text, err = planKey(o.Plan); err != nil {
				return nil, err
			}
			keys[o.Plan], all.Plans[key] = key, text
		}
		all.Owners = append(all.Owners, storedOwner{o, key, o.Version, o.Born})
	}
	return json.Marshal(all)
}

// DecodeState reads a snapshot. One that a newer stopgate wrote is an error that says so.
func DecodeState(text []byte) (*State, error) {
	var all snapshot
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("not a snapshot: %w", err)
	}
	if err := checkFormat("snapshot", all.Format, snapshotFormat); err != nil {
		return nil, err
	}

	s := NewState()
	s.Held = all.Held
	if all.Intake != nil {
		s.Intake = all.Intake
	}

	known := map[string]*runbook.Plan{}
	for key, text := range all.Plans {
		var plan runbook.Plan
		if err := json.Unmarshal(text, &plan); err != nil {
			return nil, fmt.Errorf("not a snapshot: plan %s: %w", key, err)
		}
		known[key] = s.plans.share(&plan)
	}

	for _, stored := range slices.Backward(all.Owners) {
		if stored.Owner == nil || known[stored.Plan] == nil {
			return nil, fmt.Errorf("not a snapshot: an owner has no plan %q", stored.Plan)
		}
		stored.Owner.Plan, stored.Owner.Version, stored.Owner.Born = known[stored.Plan], stored.Version, stored.Born
		s.put(stored.Owner)
	}
	return s, nil
}
