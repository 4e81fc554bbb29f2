package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// DaemonStatus is how the daemon stands, for those who look at a project.
type DaemonStatus struct {
	Running bool              `json:"running"`
	Status  *daemonapi.Status `json:"status,omitempty"`
	// Agents are those that have not ended.
	Agents []daemonapi.Agent `json:"agents,omitempty"`
	// Open are the decisions that wait for a person.
	Open []daemonapi.Decision `json:"decisions,omitempty"`
	// Fleet is the one that this machine is in.
	Fleet *daemonapi.Fleet `json:"fleet,omitempty"`
	// Fault is why it could not be asked though it runs.
	Fault string `json:"fault,omitempty"`
	// Needed means that some project has schedules that are on, or workers.
	Needed bool `json:"needed,omitempty"`

	other string // its version, where it is not ours
}

// statusPatience is the longest wait for the daemon: the rest of the status has nothing
// to do with it.
const statusPatience = 2 * time.Second

// longestState is how much is told of a decision, in columns: all of it is in decision show.
const longestState = 120

// ReadDaemon asks the daemon. It starts none.
func ReadDaemon(ctx context.Context, stateDir string) *DaemonStatus {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()

	c := daemonapi.At(stateDir)
	status, err := c.Status(ctx)
	if IsDown(err) {
		return &DaemonStatus{Needed: needsDaemon(stateDir, "")}
	}

	d := &DaemonStatus{Running: true, other: c.Skew()}
	if err == nil {
		d.Status = &status
		d.Open, err = c.Decisions(ctx, false)
	}
	if err == nil {
		d.Agents, err = c.Agents(ctx)
		d.Agents = slices.DeleteFunc(d.Agents, func(a daemonapi.Agent) bool { return a.Status == "exited" })
	}
	if err == nil {
		var fleet daemonapi.Fleet
		if fleet, err = c.Fleet(ctx); fleet.Name != "" {
			d.Fleet = &fleet
		}
	}

	if err != nil {
		d.Fault = err.Error()
	}
	return d
}

// Print shows what is under way, and what waits for a person.
func (d *DaemonStatus) Print(p term.Paint, row func(name, text, hint string)) {
	switch {
	case !d.Running && d.Needed:
		row("daemon", p.Red("not running, so no schedule or worker starts anything"), "stopgate daemon start")
		return
	case !d.Running:
		row("daemon", "not running", "")
		return
	case d.Status != nil:
		row("daemon", d.line(), "")
	}

	if d.Fault != "" {
		row("daemon", p.Red("running, but does not answer: "+plain.Line(d.Fault)), "stopgate daemon status")
	}
	if d.other != "" {
		row("daemon", p.Yellow(fmt.Sprintf("is version %s, this is %s", d.other, program.Version())), "stopgate daemon restart")
	}
	if d.Status != nil {
		for _, trouble := range d.Status.Trouble {
			row("problem", p.Red(plain.Line(trouble)), "stopgate daemon status")
		}
	}

	if d.Status != nil && d.Status.Schedules != nil {
		s := d.Status.Schedules
		row("schedule", fmt.Sprintf("%d on, the next at %s", s.Count, s.Next.Local().Format("Mon 15:04")), "stopgate schedule list --all")
	}
	if d.Fleet != nil {
		row("fleet", d.fleetLine(p), "stopgate fleet status")
	}
	if len(d.Agents) > 0 {
		row("agents", d.agents(), "stopgate agent list")
	}

	const most = 3
	for i := range d.Open[:min(len(d.Open), most)] {
		decision := &d.Open[i]
		row("decide", p.Yellow(decisionAbout(decision)+": "+term.Cut(decisionState(decision), longestState)), answerLine(decision))
	}
	if more := len(d.Open) - most; more > 0 {
		row("decide", p.Yellow(fmt.Sprintf("%d more", more)), "stopgate decision list")
	}
}

// fleetLine is how the fleet is: yellow where something is amiss.
func (d *DaemonStatus) fleetLine(p term.Paint) string {
	text := plain.Line(d.Fleet.Line())
	if !d.Fleet.Connected || len(d.Fleet.Away()) > 0 {
		return p.Yellow(text)
	}
	return text
}

// agents is how many are how far: "2 running, 1 waiting, 3 queued".
func (d *DaemonStatus) agents() string {
	states := []string{ownerRunning, "starting", "parked", ownerWaiting, "queued"}
	counts := make([]int, len(states))
	for i := range d.Agents {
		if at := slices.Index(states, d.Agents[i].State()); at >= 0 {
			counts[at]++
		}
	}
	return term.Tally(states, counts)
}

// line is what the daemon has under way.
func (d *DaemonStatus) line() string {
	s := d.Status
	live := func(c daemonapi.Counts) int { return c.Running + c.Queued + c.Waiting }
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{{live(s.Pipelines), "pipeline"}, {live(s.Runs), "agent run"}} {
		if part.n > 0 {
			parts = append(parts, plain.Count(part.n, part.noun))
		}
	}
	if len(parts) == 0 {
		return "running, idle"
	}
	return "running " + strings.Join(parts, ", ")
}
