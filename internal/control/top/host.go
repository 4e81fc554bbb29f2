package top

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// hostWidth is how wide the column with machines is at most.
const hostWidth = 16

// hostColumn is the one with the machines of rows, where something is not on this one.
func hostColumn(rows []row) (c column, needed bool) {
	c = column{"HOST", 4, func(_ *State, r *row) string { return r.host() }}
	for i := range rows {
		needed = needed || rows[i].away.Host != ""
		c.width = min(max(c.width, cells(rows[i].host())), hostWidth)
	}
	return c, needed
}

// host is the machine of a row, with the age of what is shown if that is old.
func (r *row) host() string {
	switch ago := r.away.Ago(); {
	case r.nowhere:
		return "-"
	case r.away.Host == "":
		return daemonapi.Here
	case ago != "":
		return line(r.away.Host) + " " + strings.TrimSuffix(ago, " ago")
	}
	return line(r.away.Host)
}

// asOf is a machine in the details.
func asOf(a daemonapi.Away) string {
	if ago := a.Ago(); ago != "" {
		return a.Host + ", as of " + ago
	}
	return a.Host
}

// fleetParts say what of the fleet is away; nothing where all is well.
func (s *State) fleetParts() (parts []part) {
	f := &s.World.Fleet
	if f.Name != "" && !f.Connected {
		parts = append(parts, part{"not connected to the fleet " + line(f.Name), true, yellow})
	}
	for _, m := range f.Away() {
		parts = append(parts, part{line(m.Why()), true, yellow})
	}
	return parts
}

// onHost is what the filter finds a row by: the name of its machine, also of this one.
func (s *State) onHost(r *row) string {
	switch {
	case s.World.Fleet.Name == "" || r.nowhere:
		return ""
	case r.away.Host == "":
		return " host:" + s.World.Fleet.Member + " host:" + daemonapi.Here
	}
	return " host:" + r.away.Host
}

// attachThere is the command that attaches to an agent on another machine.
func (s *State) attachThere(a *daemonapi.Agent, host string) string {
	if m, found := s.World.Fleet.Find(host); found && m.User != "" {
		host = m.User + "@" + host
	}
	return "ssh -t " + host + " stopgate agent attach " + shortID(a.ID)
}

// distant are the owners that are on other machines.
func distant(owners []daemonapi.Owner) []daemonapi.Owner {
	return slices.DeleteFunc(owners, func(o daemonapi.Owner) bool { return o.Host == "" })
}
