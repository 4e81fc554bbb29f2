package fleet

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Status is the fleet as this machine sees it.
func (f *Fleet) Status() daemonapi.Fleet {
	f.mu.Lock()
	observer, since, trouble := f.observer, f.since, f.trouble
	s := daemonapi.Fleet{Name: f.name, Member: f.me}
	f.mu.Unlock()

	if !since.IsZero() {
		s.Since = &since
	}
	if observer == nil {
		s.Name, s.Member = f.Self()
	}
	if err := cmp.Or(f.Trouble(), trouble); err != nil && s.Name != "" {
		s.Error = plain.Line(err.Error())
	}
	if observer == nil {
		return s
	}

	s.Connected = observer.Linked()
	members := map[string]daemonapi.FleetMember{}
	records := f.members()
	for _, m := range records {
		members[m.Name] = daemonapi.FleetMember{Name: m.Name, User: m.User, Hub: m.Hub > 0, State: string(beat.Unknown), Room: -1}
		if m.Hub > 0 {
			s.Hubs = append(s.Hubs, m.Name)
		}
	}

	for _, name := range observer.Members() {
		m, recorded := members[name]
		if !recorded && len(records) > 0 {
			continue // it is not in the fleet any more
		}
		b, _ := observer.Beat(name)
		if m.Name = name; !recorded {
			m.User = b.User
		}
		m.State, m.Heard = string(observer.State(name)), f.heard(name)
		m.Version, m.Labels, m.Projects, m.Agents, m.Room = b.Version, b.Labels, b.Projects, b.Agents, b.Room
		members[name] = m
	}

	slices.Sort(s.Hubs)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		s.Members = append(s.Members, members[name])
	}
	return s
}

// heard is how many seconds ago a member was heard of.
func (f *Fleet) heard(member string) float64 {
	observer := f.Observer()
	if observer == nil {
		return 0
	}
	ago, _ := observer.Heard(member)
	return math.Round(ago.Seconds()*10) / 10
}

// knows reports whether a machine is in the fleet, as far as is known.
func (f *Fleet) knows(name string) bool {
	if records := f.members(); len(records) > 0 {
		return slices.ContainsFunc(records, func(m member.Record) bool { return m.Name == name })
	}
	observer := f.Observer()
	return observer != nil && slices.Contains(observer.Members(), name)
}
