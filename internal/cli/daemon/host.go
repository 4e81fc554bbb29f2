package daemon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// hostFlag adds --host, which the shell completes with the machines of the fleet.
func hostFlag(cmd *cobra.Command, host *string, what string) {
	cmd.Flags().StringVar(host, "host", "", what)
	term.CompleteFlag(cmd, "host", func(ctx context.Context) (words []string) {
		p, err := newDaemon(cmd)
		if err != nil {
			return nil
		}
		f, _ := p.Fleet(ctx) // then there is nothing to complete
		for _, m := range f.Members {
			words = append(words, plain.Line(m.Name)+"\t"+plain.Line(m.State))
		}
		return words
	})
}

// checkHost refuses a machine that is not in the fleet. Its list would be empty.
func (p *Daemon) checkHost(ctx context.Context, host string) error {
	if host == "" || host == daemonapi.Here {
		return nil
	}
	f, err := p.Fleet(ctx)
	if err != nil {
		return err
	}
	if f.Name == "" {
		return term.BadUsage(fmt.Errorf("--host %s: this machine is not in a fleet", term.Shown(host)), "join one with: stopgate fleet join, or create one with: stopgate fleet init")
	}
	if _, found := f.Find(host); !found && len(f.Members) > 0 { // a daemon that just began knows of none yet
		return term.BadUsage(fmt.Errorf("--host %s: there is no such machine in the fleet %s", term.Shown(host), plain.Line(f.Name)), "list them with: stopgate fleet status")
	}
	return nil
}

// hostCell is a machine as a column of a list: its name, and the age of what is shown of it if that is old.
func hostCell(a daemonapi.Away) string {
	switch {
	case a.Host == "":
		return daemonapi.Here
	case a.Ago() != "":
		return plain.Line(a.Host) + ", " + a.Ago()
	}
	return plain.Line(a.Host)
}

// asOf says how old what is shown is, where that is worth saying.
func asOf(a daemonapi.Away) string {
	if a.Ago() == "" {
		return ""
	}
	return ", as of " + a.Ago()
}

// withHosts puts a column with machines into a table, the heading first, if something in it is not on this one. It
// has the rows that are old faint.
func withHosts(rows [][]string, at int, p term.Paint, away []daemonapi.Away, colour func(row, column int, text string) string) func(row, column int, text string) string {
	if !slices.ContainsFunc(away, func(a daemonapi.Away) bool { return a.Host != "" }) {
		return colour
	}
	rows[0] = slices.Insert(rows[0], at, "HOST")
	for i, a := range away {
		rows[i+1] = slices.Insert(rows[i+1], at, hostCell(a))
	}
	return func(row, column int, text string) string {
		switch {
		case away[row].Ago() != "":
			return p.Faint(text)
		case column == at:
			return text
		case column > at:
			column--
		}
		return colour(row, column, text)
	}
}

// lookEvery is how often something that other machines of the fleet may change is looked at: the daemon's events
// tell of this machine only.
const lookEvery = 2 * time.Second

// fromAfar tells when it is time to look again at what other machines show; never where there are none.
func (p *Daemon) fromAfar(ctx context.Context) (tick <-chan time.Time, stop func()) {
	f, err := p.Fleet(ctx)
	if err != nil || f.Name == "" {
		return nil, func() {}
	}
	ticker := time.NewTicker(lookEvery)
	return ticker.C, ticker.Stop
}

// steady is a glimpse whose JSON stays the same while nothing happens: how long ago a machine was heard of is left
// out while it is, and told by the minute while it is not.
type steady struct{ term.Glimpse }

func (s steady) JSON() any {
	switch v := s.Glimpse.JSON().(type) {
	case daemonapi.Owner:
		return steadyOwner(v)
	case []daemonapi.Owner:
		return each(v, steadyOwner)
	case []daemonapi.Agent:
		return each(v, steadyAgent)
	case []daemonapi.Decision:
		return each(v, steadyDecision)
	default:
		return v
	}
}

func each[T any](all []T, do func(T) T) []T {
	done := make([]T, len(all))
	for i := range all {
		done[i] = do(all[i])
	}
	return done
}

func steadyOwner(o daemonapi.Owner) daemonapi.Owner {
	o.Heard = byTheMinute(o.Heard)
	if o.Agent != nil {
		a := steadyAgent(*o.Agent)
		o.Agent = &a
	}
	if o.Decision != nil {
		d := steadyDecision(*o.Decision)
		o.Decision = &d
	}
	return o
}

func steadyAgent(a daemonapi.Agent) daemonapi.Agent {
	a.Heard = byTheMinute(a.Heard)
	return a
}

func steadyDecision(d daemonapi.Decision) daemonapi.Decision {
	d.Heard = byTheMinute(d.Heard)
	return d
}

func byTheMinute(seconds float64) float64 { return math.Floor(seconds/60) * 60 }

// elsewhere is the command that does something on another machine.
func (p *Daemon) elsewhere(ctx context.Context, host, command string) string {
	if f, err := p.Fleet(ctx); err == nil {
		if m, found := f.Find(host); found && m.User != "" {
			host = m.User + "@" + host
		}
	}
	return "ssh -t " + term.ShellWord(host) + " " + command
}
