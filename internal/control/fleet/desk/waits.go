package desk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
)

// moment is how the members of a fleet stand at one moment, for a list of jobs that is looked at.
type moment struct {
	members []daemonapi.FleetMember
	passed  map[string]map[string]string
}

func (m moment) Peers() []daemonapi.FleetMember { return m.members }

func (m moment) Passed(member string) map[string]string { return m.passed[member] }

func (s *session) moment() moment {
	m := moment{s.peers.Peers(), map[string]map[string]string{}}
	for _, p := range m.members {
		m.passed[p.Name] = s.peers.Passed(p.Name)
	}
	return m
}

// waits are why a job is not being done, in words.
func (s *session) waits(j job.Job, of Peers) []string {
	switch j.State {
	case job.Pending:
		return waits(j, of, s.board.Cap(board.CapOf(j.Spec)))
	case job.Claimed, job.Running:
		for _, p := range of.Peers() {
			if p.Name == j.Member && isAway(p) {
				return []string{fmt.Sprintf("%s is %s", p.Name, p.State)}
			}
		}
	}
	return nil
}

// waits are why no member has taken a pending job, as far as can be seen from here: what keeps each of them from it, or
// the cap.
func waits(j job.Job, of Peers, limit job.Cap) (why []string) {
	peers := of.Peers()
	var full *job.FullError
	if _, err := limit.Reserve(j.ID, j.Attempt+1, j.Spec.USD); errors.As(err, &full) {
		why = append(why, fmt.Sprintf("cap %s is full: %s", board.CapOf(j.Spec), full.Why))
	}
	for _, need := range j.Spec.Needs {
		if !slices.ContainsFunc(peers, func(p daemonapi.FleetMember) bool { return slices.Contains(p.Labels, need) }) {
			why = append(why, "no machine has the label "+need)
		}
	}
	if j.Spec.Host != "" && !slices.ContainsFunc(peers, func(p daemonapi.FleetMember) bool { return p.Name == j.Spec.Host }) {
		why = append(why, "there is no machine "+j.Spec.Host+" in the fleet")
	}
	names := map[string][]string{} // of the members that a reason is the same for
	for _, p := range peers {
		if reason := keeps(j, p, of.Passed(p.Name)[j.ID]); reason != "" {
			names[reason] = append(names[reason], p.Name)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(names)) {
		why = append(why, strings.Replace(reason, theNames, strings.Join(names[reason], ", "), 1))
	}
	for _, member := range slices.Sorted(maps.Keys(j.Refused)) {
		why = append(why, member+" could not start it: "+j.Refused[member])
	}
	return why
}

// theNames stands in a reason for the names of members.
const theNames = "\x00"

// keeps is what keeps a member from a job that is for it.
func keeps(j job.Job, p daemonapi.FleetMember, passed string) string {
	lacks := func(need string) bool { return !slices.Contains(p.Labels, need) }
	_, refused := j.Refused[p.Name]
	switch {
	case j.Spec.Host != "" && j.Spec.Host != p.Name, slices.ContainsFunc(j.Spec.Needs, lacks), refused:
		return ""
	case p.State != "up":
		return p.State + ": " + theNames
	case !slices.Contains(p.Projects, j.Spec.Project):
		return "project " + j.Spec.Project + " is not mapped on " + theNames
	case passed != "":
		return "on " + theNames + ": " + passed
	}
	return ""
}
