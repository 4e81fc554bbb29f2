package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// status is the fleet as this machine sees it.
type status struct {
	daemonapi.Fleet
	HubStatus []hubLook `json:"hub_status,omitempty"`
	NATS      string    `json:"nats,omitempty"`
	// Quorum means that the hubs can take something down, and HighlyAvailable that they can after losing one.
	Quorum          bool `json:"quorum"`
	HighlyAvailable bool `json:"highly_available"`

	maker    maker
	starting bool // this machine's hub runs and does not answer yet
}

func (c *command) status(ctx context.Context) error {
	id, err := member.Load(c.stateDir)
	if err != nil {
		return c.noFleet(err)
	}
	s := c.look(ctx, id)
	if err := c.show(s, s.text(id, c.now())); err != nil {
		return err
	}
	if !s.Connected {
		fmt.Fprintln(c.errOut, "find out why with: stopgate fleet doctor")
		return errSilent
	}
	return nil
}

// look asks the hubs, the fleet's store and the daemon.
func (c *command) look(ctx context.Context, id member.Identity) status {
	s := status{NATS: id.NATS}
	var records []member.Record
	var seen []daemonapi.FleetMember
	var err error

	var all sync.WaitGroup // each may wait for its patience
	all.Go(func() { s.HubStatus = c.lookAtHubs(ctx, id) })
	all.Go(func() { records, err = c.members(ctx, id) })
	all.Go(func() { seen = c.seen(ctx) })
	all.Wait()

	s.Name, s.Member = id.Fleet, id.Name
	up := s.up()
	s.Quorum, s.HighlyAvailable = 2*up > len(id.Hubs), len(id.Hubs) > 1 && up == len(id.Hubs)
	s.Connected = up > 0
	if err != nil {
		s.Error = err.Error()
	}
	if id.NATS != "" {
		s.Connected, s.Quorum = err == nil, err == nil
	}

	s.join(records, seen)
	s.maker = c.findMaker(id, records)
	s.judgeRefusals(id)
	s.starting = !s.Connected && id.Hub > 0 && hub.Runs(c.stateDir)
	return s
}

// join puts together who is in the fleet, by its records, and how they are, as the daemon sees them. Where the
// records cannot be read, the daemon remembers who was there.
func (s *status) join(records []member.Record, seen []daemonapi.FleetMember) {
	if records == nil {
		s.Members = seen
	}
	if makerIn(records).name != "" { // the hubs have put themselves into the records
		for i := range s.HubStatus { // also of a machine that has joined again without a hub
			h := &s.HubStatus[i]
			h.TakenOut = h.Status == nil && !errors.Is(h.err, nats.ErrAuthorization) // unless a machine has its place
		}
	}

	for _, r := range records {
		if r.Left {
			continue
		}
		m := daemonapi.FleetMember{Name: r.Name, User: r.User, State: "unknown", Room: -1}
		if at := slices.IndexFunc(seen, func(m daemonapi.FleetMember) bool { return m.Name == r.Name }); at >= 0 {
			m = seen[at]
		}
		m.User, m.Hub = r.User, r.Hub > 0
		s.Members = append(s.Members, m)
		if r.Hub > 0 && r.Hub <= len(s.HubStatus) {
			s.HubStatus[r.Hub-1].Member, s.HubStatus[r.Hub-1].TakenOut = r.Name, false
			s.Hubs = append(s.Hubs, r.Name)
		}
	}
}

// seen are the machines as this one's daemon sees them: it listens to their beats. Without a daemon there are
// none.
func (c *command) seen(ctx context.Context) []daemonapi.FleetMember {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	f, err := daemonapi.At(c.stateDir).Fleet(ctx)
	switch {
	case errors.Is(err, daemonapi.ErrNotRunning):
		fmt.Fprintln(c.errOut, "stopgate: the daemon of this machine is not running, so it is not known which machines are up\nstart it with: stopgate daemon start")
	case err != nil:
		fmt.Fprintln(c.errOut, "stopgate: the daemon of this machine does not tell which machines are up:", plain.Line(err.Error()))
	}
	return f.Members
}

func (s status) text(id member.Identity, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "fleet %s: %s; this machine is %s\n", s.Name, s.servers(), id.Name)
	if s.Error != "" && s.Connected {
		fmt.Fprintf(&b, "%s\n", plain.Line(s.Error))
	}
	for _, hub := range s.HubStatus {
		if hub.Status != nil && hub.Status.Waits != "" {
			fmt.Fprintf(&b, "%s\n", plain.Line(hub.Status.Waits))
			break
		}
	}
	if now := s.complete(); s.Quorum && now < s.up() {
		fmt.Fprintf(&b, "%d of %d hubs have everything so far: the others are catching up\n", now, len(s.HubStatus))
	}
	if len(s.Members) > 0 {
		b.WriteString("\n" + table(s.memberRows()))
	}
	if len(s.HubStatus) > 0 {
		b.WriteString("\n" + table(s.hubRows(now)))
	}
	return b.String()
}

// up is how many hubs answer.
func (s status) up() (up int) {
	for _, hub := range s.HubStatus {
		if hub.Status != nil {
			up++
		}
	}
	return up
}

// complete is how many hubs have all of the fleet's data, by what those that answer say.
func (s status) complete() int {
	least := len(s.HubStatus)
	for _, hub := range s.HubStatus {
		if hub.Status == nil {
			continue
		}
		for _, stream := range hub.Status.Streams {
			least = min(least, stream.Current)
		}
	}
	return least
}

// servers says what carries the fleet.
func (s status) servers() string {
	switch {
	case s.NATS != "" && s.Connected:
		return "on the NATS cluster " + s.NATS
	case s.NATS != "":
		return "on the NATS cluster " + s.NATS + ", which does not answer"
	case s.starting:
		return "no hub answers yet: that of this machine is starting"
	case !s.Connected:
		return "no hub answers"
	case s.settingUp():
		return "being set up, " + s.answering()
	case !s.Quorum:
		return fmt.Sprintf("no quorum, %s: the machines do not see each other and take no jobs until more do", s.answering())
	case len(s.HubStatus) == 1:
		return "1 hub (not highly available)"
	case !s.HighlyAvailable:
		return s.answering() + " (losing another one stops the fleet)"
	}
	return fmt.Sprintf("%d hubs (one may be lost)", len(s.HubStatus))
}

// answering says how many hubs answer of those that there are. One that was taken out is not waited for.
func (s status) answering() string {
	var gone []string
	for _, hub := range s.HubStatus {
		if hub.TakenOut {
			gone = append(gone, hub.Name)
		}
	}
	text := fmt.Sprintf("%d of %s answer", s.up(), plain.Count(len(s.HubStatus)-len(gone), "hub"))
	switch len(gone) {
	case 0:
		return text
	case 1:
		return text + ", " + gone[0] + " was taken out"
	}
	return text + ", " + strings.Join(gone, " and ") + " were taken out"
}

func (s status) memberRows() [][]string {
	rows := [][]string{{"MACHINE", "USER", "STATE", "REPORTED", "VERSION", "AGENTS", "ROOM", "LABELS", "PROJECTS"}}
	for _, m := range s.Members {
		row := []string{m.Name, m.User, m.State, "", m.Version, "", "", strings.Join(m.Labels, ","), strings.Join(m.Projects, ",")}
		heard := time.Duration(m.Heard * float64(time.Second))
		switch {
		case m.State == "unknown" && !s.cutOff() && heard < beat.UnheardAfter: // this machine has not listened for long
			row[3] = "not yet"
		case m.State == "unknown" && m.Name == s.Member && s.cutOff():
			row[2] = "cut off"
		}
		if row[3] == "" && (m.State != "unknown" || m.Version != "") { // a machine that is cut off knows what the others reported before
			row[3], row[5], row[6] = plain.Duration(heard.Truncate(time.Second))+" ago", fmt.Sprint(m.Agents), room(m)
		}
		rows = append(rows, row)
	}
	return rows
}

// room is how many more jobs a machine would take now: one that does not report takes none, whatever it said before.
func room(m daemonapi.FleetMember) string {
	switch {
	case m.State != "up":
		return "-"
	case m.Room < 0:
		return "any"
	}
	return fmt.Sprint(m.Room)
}

// cutOff reports whether this machine does not hear itself any more, and so none of the others.
func (s status) cutOff() bool {
	return slices.ContainsFunc(s.Members, func(m daemonapi.FleetMember) bool {
		return m.Name == s.Member && m.State == "unknown" && m.Heard >= beat.UnheardAfter.Seconds()
	})
}

func (s status) hubRows(now time.Time) [][]string {
	rows := [][]string{{"HUB", "MACHINE", "ADDRESS", "STATE"}}
	for _, hub := range s.HubStatus {
		rows = append(rows, []string{hub.Name, cmp.Or(hub.Member, "-"), hub.Address, hub.state(now)})
	}
	return rows
}

// state says how a hub is.
func (h hubLook) state(now time.Time) string {
	if h.TakenOut {
		return "was taken out"
	}
	if h.Status == nil {
		if errors.Is(h.err, nats.ErrNoServers) {
			return "does not answer"
		}
		if errors.Is(h.err, nats.ErrAuthorization) && !h.final {
			return "does not know this machine yet: that takes some seconds after joining"
		}
		return plain.Line(h.Error)
	}
	words := []string{"up for " + plain.Duration(max(0, now.Sub(h.Status.Since).Round(time.Second)))}
	if h.Status.Leader == h.Name {
		words = append(words, "leader")
	}
	if h.Status.Memory > 0 {
		words = append(words, plain.Size(h.Status.Memory))
	}
	return strings.Join(append(words, h.Status.Version), ", ")
}

// table lays rows out in columns. The first row has their names. It cuts nothing, as package term does to fit
// a screen: addresses and projects are to be copied whole.
func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = plain.Line(row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // into memory
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
