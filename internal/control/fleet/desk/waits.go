package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
)

// moment is how the members of a fleet stand at one moment, for a list of jobs that is looked at.
type moment struct {
	members []daemonapi.FleetMember
	passed  map[string]map[string]string
}

func (m moment) Peers() []daemonapi.FleetMember { return m.members }

func (m moment) Passed(member string) map[string]string { return m.passed[member] }

// moment is how they stand now. Of this machine it is known: what it reported is some seconds old.
func (s *session) moment() moment {
	m := moment{s.peers.Peers(), map[string]map[string]string{}}
	for i, p := range m.members {
		m.passed[p.Name] = s.peers.Passed(p.Name)
		if p.Name == s.link.Member {
			m.passed[p.Name], m.members[i].Room = s.member.Passed(), s.member.Machine.Room()
		}
	}
	return m
}

// waits are why a job is not being done, in words.
func (s *session) waits(j job.Job, of Peers) []string {
	switch j.State {
	case job.Pending:
		why, _ := waits(j, of, s.board.Cap(board.CapOf(j.Spec)))
		return why
	case job.Claimed, job.Running:
		for _, p := range of.Peers() {
			if p.Name == j.Member && isAway(p) {
				return []string{fmt.Sprintf("%s is %s", p.Name, p.State)}
			}
		}
	}
	return nil
}

// waitsAtFirst are why a job that was just added is not going to be taken soon, as far as is known: none where a machine
// that is up would take it.
func (s *session) waitsAtFirst(ctx context.Context, id string) []string {
	j, _ := s.board.Job(id)
	now := s.moment()
	now.passed[s.link.Member] = map[string]string{id: s.member.Passes(ctx, j)}
	if j, _ = s.board.Job(id); j.State != job.Pending { // it was taken meanwhile, which took the room
		return nil
	}
	why, soon := waits(j, now, s.board.Cap(board.CapOf(j.Spec)))
	if soon {
		return nil
	}
	return why
}

// waits are why no member has taken a pending job, as far as can be seen from here: the cap, what no member has, or what
// keeps each of them from it. Soon means that nothing is known to keep a member that is up from it.
func waits(j job.Job, of Peers, limit job.Cap) (why []string, soon bool) {
	peers := of.Peers()
	if len(peers) == 0 {
		return []string{"no machine has reported here yet"}, false
	}
	var full *job.FullError
	if _, err := limit.Reserve(j.ID, j.Attempt+1, j.Spec.USD); errors.As(err, &full) {
		why = append(why, fmt.Sprintf("cap %s is full: %s", board.CapOf(j.Spec), full.Why))
	}
	by := sorted(j, of)
	if len(by.ready) > 0 && full == nil {
		return []string{"no report about it yet from " + strings.Join(by.ready, ", ")}, true
	}

	why = append(why, lacking(j.Spec, peers)...)
	if len(by.full) > 0 {
		why = append(why, "on "+strings.Join(by.full, ", ")+": "+claim.NoRoom)
	}
	for _, reason := range slices.Sorted(maps.Keys(by.kept)) {
		why = append(why, strings.Replace(reason, theNames, strings.Join(by.kept[reason], ", "), 1))
	}
	for _, member := range slices.Sorted(maps.Keys(j.Refused)) {
		why = append(why, member+" could not start it: "+j.Refused[member])
	}
	if full == nil && len(by.full) == 0 { // else one that is up takes it when there is room again
		for _, state := range slices.Sorted(maps.Keys(by.away)) {
			why = append(why, state+": "+strings.Join(by.away[state], ", "))
		}
	}
	return why, false
}

// lacking is what a job needs and no member has.
func lacking(s job.Spec, peers []daemonapi.FleetMember) (why []string) {
	for _, need := range s.Needs {
		if !slices.ContainsFunc(peers, func(p daemonapi.FleetMember) bool { return slices.Contains(p.Labels, need) }) {
			why = append(why, "no machine has the label "+need)
		}
	}
	if s.Host != "" && !slices.ContainsFunc(peers, func(p daemonapi.FleetMember) bool { return p.Name == s.Host }) {
		why = append(why, "there is no machine "+s.Host+" in the fleet")
	}
	return why
}

// sorts are the names of the members that a job is for, by what keeps them from it.
type sorts struct {
	ready []string            // nothing does
	full  []string            // they have no room
	kept  map[string][]string // by reason
	away  map[string][]string // by state
}

func sorted(j job.Job, of Peers) sorts {
	by := sorts{kept: map[string][]string{}, away: map[string][]string{}}
	for _, p := range of.Peers() {
		passed := of.Passed(p.Name)[j.ID]
		switch {
		case !isFor(j, p):
		case p.State != "up":
			by.away[p.State] = append(by.away[p.State], p.Name)
		case !slices.Contains(p.Projects, j.Spec.Project):
			reason := "project " + j.Spec.Project + " is not mapped on " + theNames
			by.kept[reason] = append(by.kept[reason], p.Name)
		case passed == claim.NoRoom, passed == "" && p.Room == 0:
			by.full = append(by.full, p.Name)
		case passed != "":
			reason := "on " + theNames + ": " + passed
			by.kept[reason] = append(by.kept[reason], p.Name)
		default:
			by.ready = append(by.ready, p.Name)
		}
	}
	return by
}

// theNames stands in a reason for the names of members.
const theNames = "\x00"

// isFor reports whether a member has what a job asks for, and has not refused it.
func isFor(j job.Job, p daemonapi.FleetMember) bool {
	_, refused := j.Refused[p.Name]
	lacks := func(need string) bool { return !slices.Contains(p.Labels, need) }
	return (j.Spec.Host == "" || j.Spec.Host == p.Name) && !refused && !slices.ContainsFunc(j.Spec.Needs, lacks)
}
