package web

import (
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// fleetPage are the machines of the fleet.
type fleetPage struct {
	daemonapi.Fleet
	Machines []machine
}

// machine is one of the fleet.
type machine struct {
	daemonapi.FleetMember
	Here bool // it is this one
}

func readFleet(r *Request) (any, error) {
	page := fleetPage{Fleet: r.Fleet(r.Context())}
	for _, m := range page.Members {
		page.Machines = append(page.Machines, machine{m, m.Name == page.Member})
	}
	return page, nil
}

// inFleet reports whether this machine is in a fleet. Without one there is nothing of it to be seen.
func inFleet(r *Request) bool { return r.Fleet(r.Context()).Name != "" }

// mostAfar bounds what is counted of other machines.
const mostAfar = 500

// waitingAfar is how many decisions wait on other machines. The daemon counts its own.
func (r *Request) waitingAfar() (n int) {
	if !inFleet(r) {
		return 0
	}
	open, err := r.Decisions(r.Context(), &api.Query{Limit: mostAfar})
	if err != nil {
		return 0 // the page says so itself
	}
	for i := range open.Items {
		if open.Items[i].Host != "" {
			n++
		}
	}
	return n
}

// runningAfar is how many pipelines and runs are under way on other machines.
func (r *Request) runningAfar() (n int, err error) {
	if !inFleet(r) {
		return 0, nil
	}
	all, err := r.Owners(r.Context(), &api.Query{Status: []string{"running", "queued"}, Limit: mostAfar})
	for i := range all.Items {
		if all.Items[i].Host != "" {
			n++
		}
	}
	return n, err
}

// Places is how many more jobs it would take, in words.
func (m machine) Places() string {
	switch {
	case m.State != "up":
		return "none now"
	case m.Room < 0:
		return "not known"
	case m.Room == 0:
		return "none"
	}
	return plain.Count(m.Room, "more job")
}

// Known are the names of the projects that may be started there.
func (m machine) Known() string { return strings.Join(plain.Few(m.Projects, 12), ", ") }

// Has is what jobs may need of it.
func (m machine) Has() string { return strings.Join(plain.Few(m.FleetMember.Labels, 12), ", ") }

// LastHeard is when it reported last, in words.
func (m machine) LastHeard() string {
	switch ago := (daemonapi.Away{Host: m.Name, Heard: m.Heard}).Ago(); {
	case m.State == "unknown":
		return "never"
	case m.Here || ago == "":
		return "now"
	default:
		return ago
	}
}

// host is the machine that a list is asked for, "" for all.
func (r *Request) host() string {
	host := r.Value("host")
	if host != daemonapi.Here && !daemonapi.IsFleetName(host) {
		return ""
	}
	return host
}

// machines are those to choose from, with the one that is chosen; none without a fleet.
func (r *Request) machines(chosen string) (all []choice) {
	f := r.Fleet(r.Context())
	for _, m := range f.Members {
		value := m.Name
		if m.Name == f.Member {
			value = daemonapi.Here
		}
		all = append(all, choice{Value: value, Name: m.Name, Here: value == chosen})
	}
	return all
}
