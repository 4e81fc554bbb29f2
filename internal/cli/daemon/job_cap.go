package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newJobCap() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "cap",
		Short: "Limit the jobs of all machines together",
		Long: `Show and set caps. A cap limits how many jobs run at once on all machines of the fleet together, and what
they may cost in all. A job counts against the cap that it names, else against the cap default.`,
		Example: `  stopgate job cap set default --jobs 6
  stopgate job cap list`,
	}, newJobCapList(), newJobCapSet())
}

func newJobCapList() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "list",
		Short: "List the caps",
		Long: `List the caps with what is used of them. A job that is lost counts until it is decided.

Exit code 0: listed, or no daemon is running, or this machine is not in a fleet. 3: the daemon crashed or
does not answer, or the fleet cannot be reached.`,
		Example: `  stopgate job cap list`,
		Args:    term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		caps, err := p.Caps(ctx)
		if nothing, why := p.nothingToList(ctx, err); nothing {
			return p.listEmpty(why)
		}
		if err != nil {
			return err
		}
		return term.Once(p.out, p.asJSON, term.List[daemonapi.Cap]{
			All:  caps,
			Fact: func(c *daemonapi.Cap) string { return "cap " + c.Name },
			Draw: func(paint term.Paint, width, height int) []string { return capLines(caps, paint, width, height) },
		})
	})
}

func capLines(caps []daemonapi.Cap, p term.Paint, width, height int) []string {
	rows := [][]string{{"CAP", "JOBS", "OF", "RESERVED", "SPENT", "OF"}}
	for i := range caps {
		c := &caps[i]
		jobs, usd := "any", "any"
		if c.Jobs > 0 {
			jobs = strconv.Itoa(c.Jobs)
		}
		if c.USD > 0 {
			usd = dollars(c.USD)
		}
		rows = append(rows, []string{plain.Line(c.Name), strconv.Itoa(len(c.Held)), jobs, dollars(c.Reserved), dollars(c.Spent), usd})
	}
	plainly := func(_, _ int, text string) string { return text }
	return term.Fit(term.Table(rows, width, term.Headed(p, plainly)), height)
}

func newJobCapSet() *cobra.Command {
	var jobs int
	var usd float64
	cmd := acts(&cobra.Command{
		Use:   "set NAME",
		Short: "Set a cap",
		Long: `Set a cap: how many jobs run at once on all machines together (--jobs), and what jobs may cost in all
(--usd). Limits that are left out stay unchanged; 0 removes a limit. Running jobs continue, even above a new limit.

What a job may cost is its runbook's budget, else --usd of job add. It is reserved while the job runs, and
replaced by what the job has cost. To start a new month, raise the limit.

Exit code 0: set. 2: usage error. 3: the fleet does not answer; nothing was changed, unless the message
says that the outcome is unknown.`,
		Example: `  stopgate job cap set default --jobs 6 --usd 50
  stopgate job cap set nightly --jobs 1`,
		Args: term.OneArg,
	}, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set := daemonapi.SetCap{Name: args[0]}
		if cmd.Flags().Changed("jobs") {
			set.Jobs = &jobs
		}
		if cmd.Flags().Changed("usd") {
			set.USD = &usd
		}
		if set.Jobs == nil && set.USD == nil {
			return term.BadUsage(errors.New("job cap set needs --jobs or --usd"), "usage: "+cmd.UseLine())
		}
		return acting(func(ctx context.Context, p *Daemon, _ []string) error {
			c, err := insistOnFleet(ctx, p, func() (daemonapi.Cap, error) { return p.SetCap(ctx, set) })
			if err != nil {
				return err
			}
			return p.tell(c, fmt.Sprintf("cap %s: %s", plain.Line(c.Name), limitWords(c)))
		})(cmd, args)
	}
	cmd.Flags().IntVar(&jobs, "jobs", 0, "how many jobs run at once; 0 is any number")
	cmd.Flags().Float64Var(&usd, "usd", 0, "what jobs may cost in all; 0 is any amount")
	return cmd
}

// limitWords are a cap's limits.
func limitWords(c daemonapi.Cap) string {
	jobs, usd := "any number of jobs at once", "any cost"
	if c.Jobs > 0 {
		jobs = "at most " + plain.Count(c.Jobs, "job") + " at once"
	}
	if c.USD > 0 {
		usd = "at most " + dollars(c.USD)
	}
	return jobs + ", " + usd
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
