package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewJob() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "job",
		Short: "Run commands on whichever machine of the fleet has room",
		Long: `Add jobs to the fleet, and show them. A job is a runbook command of a project. The first machine that has
the labels, the project, its approved runbook and room for it takes it and runs it.`,
		Example: `  stopgate job add --needs gpu train
  stopgate job list
  stopgate job show 3f9a12bc`,
	}, newJobAdd(), newJobList(), newJobShow(), newJobCancel(), newJobCap())
}

func newJobAdd() *cobra.Command {
	var a daemonapi.AddJob
	cmd := acts(&cobra.Command{
		Use:   "add COMMAND [ARGS…]",
		Short: "Add a job to the fleet",
		Long: `Add a job: a command of the runbooks of a project, by default the one here, with its arguments. Machines
know a project by its name under fleet.projects in their configuration; here it may be the name of the
project's directory, too. A command that the runbooks of the project here do not have is refused, unless
--host or --project is given. If no machine that is up would take the job, it says why.

If the machine that runs it has not reported for a minute, you are asked whether to wait, to do the job
again, or to cancel it. With --on-lost again it is done again without asking: the machine that
lost the fleet ends its attempt after 20 seconds. Use it only for work that may run twice.

Exit code 0: added. 1: refused. 2: usage error. 3: the daemon could not be started, or the fleet does not
answer; nothing was added, unless the message says that the outcome is unknown.`,
		Example: `  stopgate job add fix 1234
  stopgate job add --project shop --needs gpu --needs linux train
  stopgate job add --host vps --cap nightly --usd 5 review`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return term.BadUsage(fmt.Errorf("%s %s needs a command", cmd.Parent().Name(), cmd.Name()), "usage: "+cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: completeCommand,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		a.ID, a.Command, a.Args = daemonapi.NewID(), args[0], args[1:]
		if a.ProjectName == "" {
			var err error
			if a.Project, err = jobProject(); err != nil {
				return err
			}
		}
		return p.addJob(ctx, a)
	})
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&a.ProjectName, "project", "", "the project's `name` in the fleet; default: the project here")
	flags.StringArrayVar(&a.Needs, "needs", nil, "a `label` that the machine must have; may be repeated")
	flags.StringVar(&a.Only, "host", "", "the only `machine` that may do it")
	flags.StringVar(&a.OnLost, "on-lost", "", "what to do if the machine is lost: ask (default) or again")
	flags.StringVar(&a.Cap, "cap", "", "the `cap` that it counts against; default: default")
	flags.Float64Var(&a.Reserve, "usd", 0, "what it may cost, where its runbook has no budget; reserved from the cap")
	return cmd
}

// jobProject is the root of the project here. A directory that is not one has a name too, which the fleet would take for
// that of a project.
func jobProject() (string, error) {
	h, err := here.FindRunbooks()
	if err != nil {
		return "", err
	}
	_, repository := paths.GitRoot(h.Cwd)
	mapped := slices.ContainsFunc(h.Global.Fleet.Projects, func(p config.FleetProject) bool { return isDir(p.Path, h.Root) })
	if h.HasProject || repository || mapped {
		return h.Root, nil
	}
	return "", term.BadUsage(errors.New("no project: "+term.Shown(h.Cwd)+" is not in one"), "run it in the project, or name it: stopgate job add --project NAME COMMAND")
}

// addJob adds a job, and says what it waits for if no machine is about to take it.
func (p *Daemon) addJob(ctx context.Context, a daemonapi.AddJob) error {
	j, err := insistOnFleet(ctx, p, func() (daemonapi.Job, error) { return p.AddJob(ctx, a) })
	if err != nil {
		return err
	}
	if err := p.tell(j, fmt.Sprintf("added job %s (%s of %s)", shortID(j.ID), plain.Line(j.Command), plain.Line(j.Project))); err != nil {
		return err
	}
	tellWaits(p, j.Waits...)
	return nil
}

// tellWaits says why no machine takes a job that was added.
func tellWaits(p *Daemon, why ...string) {
	for _, reason := range why {
		for _, line := range term.Wrapped("it waits: ", plain.Line(reason), term.WidthOf(p.errOut)) {
			fmt.Fprintln(p.errOut, line)
		}
	}
}

func newJobList() *cobra.Command {
	var all bool
	cmd := asks(&cobra.Command{
		Use:   "list",
		Short: "List the fleet's jobs",
		Long: `List the jobs of the fleet that have not ended, newest first; with --all, also those that have. STATUS is
pending, claimed, running, waiting (its pipeline asks you something), lost (see stopgate decision
list), done, failed or cancelled; the last column says why a job waits or how it ended. While the
fleet does not answer, the jobs are shown as this machine last knew them, with their age.

Exit code 0: listed, or no daemon is running, or this machine is not in a fleet. 3: the daemon crashed or
does not answer, or knows no jobs because it is not connected.`,
		Example: `  stopgate job list
  stopgate job list --all --json | jq -r '.[] | select(.status == "failed").id'`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		f := daemonapi.Filter{Status: "pending,claimed,running,lost"}
		if all {
			f.Status = ""
		}
		jobs, err := p.Jobs(ctx, f)
		if nothing, why := p.nothingToList(ctx, err); nothing {
			return p.listEmpty(why)
		}
		if err != nil {
			return err
		}
		return term.Once(p.out, p.asJSON, jobList(jobs, time.Now))
	})
	cmd.Flags().BoolVar(&all, "all", false, "list also jobs that have ended")
	return cmd
}

func newJobShow() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "show ID",
		Short: "Show a job, and why it waits",
		Long: `Show a job with the machine that has it and, while it is pending, why no machine has taken it. Machines
that could not start it say why. After its machine was lost it shows what you decided. While the fleet does
not answer, the job is shown as this machine last knew it, with its age.

Exit code 0: shown. 2: there is no such job. 3: the daemon is not running, or does not know the job and the
fleet does not answer.`,
		Example:           `  stopgate job show 3f9a12bc`,
		Args:              term.OneArg,
		ValidArgsFunction: jobIDs,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		j, err := p.Job(ctx, args[0])
		if err != nil {
			return err
		}
		return term.Once(p.out, p.asJSON, jobShow{j})
	})
}

func newJobCancel() *cobra.Command {
	return acts(&cobra.Command{
		Use:   "cancel ID",
		Short: "Cancel a job",
		Long: `Cancel a job. If a machine has it, that machine cancels its pipeline, and the job ends when that has ended.
If that machine is offline, the job ends at once; the machine cancels what still runs when it is back.

Exit code 0: cancelled, being cancelled, or it had already ended. 2: there is no such job. 3: the fleet
does not answer; nothing was changed, unless the message says that the outcome is unknown.`,
		Example:           `  stopgate job cancel 3f9a12bc`,
		Args:              term.OneArg,
		ValidArgsFunction: jobIDs,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		j, err := insistOnFleet(ctx, p, func() (daemonapi.Job, error) { return p.CancelJob(ctx, args[0]) })
		if err != nil {
			if now, failed := p.Job(ctx, args[0]); failed == nil && endedJob(now.Status) {
				return p.tell(now, "job "+shortID(now.ID)+" had already ended: "+now.Status)
			}
			return err
		}
		line := "job " + shortID(j.ID) + " is cancelled"
		if j.Attempt > 0 && j.Reason != "" {
			fmt.Fprintln(p.errOut, "stopgate: "+plain.Line(j.Reason))
		}
		if j.Cancelling {
			line = fmt.Sprintf("job %s is being cancelled on %s", shortID(j.ID), plain.Line(j.Host))
		}
		return p.tell(j, line)
	})
}

func endedJob(status string) bool {
	return slices.Contains([]string{"done", "failed", "cancelled"}, status)
}

// jobIDs completes the ids of jobs that have not ended.
func jobIDs(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completing(1, func(ctx context.Context, p *Daemon, _ []string) (ids []string) {
		jobs, _ := p.Jobs(ctx, daemonapi.Filter{Status: "pending,claimed,running,lost"}) // else there is nothing to complete
		for i := range jobs {
			ids = append(ids, shortID(jobs[i].ID)+"\t"+plain.Line(jobs[i].Command)+" "+jobs[i].Status)
		}
		return ids
	})(cmd, args, begun)
}

// jobList is jobs at one moment.
func jobList(all []daemonapi.Job, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Job]{
		All:  all,
		Fact: func(j *daemonapi.Job) string { return "job " + shortID(j.ID) + ": " + jobStatus(j) },
		Draw: func(p term.Paint, width, height int) []string { return jobLines(all, now(), p, width, height) },
	}
}

func jobLines(all []daemonapi.Job, now time.Time, p term.Paint, width, height int) []string {
	if len(all) == 0 {
		return []string{term.Cut("no jobs", width), p.Faint(term.Cut("add one with: stopgate job add COMMAND", width))}
	}

	rows := [][]string{{"ID", "PROJECT", "COMMAND", "STATUS", "HOST", "AGE", ""}}
	for i := range all {
		j := &all[i]
		host := plain.Line(j.Host)
		if host == "" || j.Status == "pending" {
			host = "-"
		}
		rows = append(rows, []string{
			shortID(j.ID), plain.Line(j.Project), plain.Line(strings.Join(append([]string{j.Command}, j.Args...), " ")), jobStatus(j), host,
			term.Age(j.Added, now), plain.Line(cmp.Or(j.Reason, strings.Join(j.Waits, "; "))),
		})
	}

	lines := term.Table(rows, width, term.Headed(p, func(row, column int, text string) string {
		if column == 3 {
			return jobColour(p, jobStatus(&all[row]), text)
		}
		return text
	}))
	if old := jobsAsOf(&all[0]); old != "" {
		lines = append([]string{p.Yellow(term.Cut(old, width))}, lines...)
	}
	return term.Fit(lines, height)
}

// jobsAsOf says how old what is shown of jobs is, while the fleet does not answer.
func jobsAsOf(j *daemonapi.Job) string {
	if j.Unheard == 0 {
		return ""
	}
	return "the fleet does not answer: as of " + daemonapi.Span(time.Duration(j.Unheard)*time.Second) + " ago"
}

// jobStatus is one word for where a job stands: one whose pipeline asks a person something does not go on.
func jobStatus(j *daemonapi.Job) string {
	if j.Asks != "" && j.Status == ownerRunning {
		return ownerWaiting
	}
	return j.Status
}

// attemptWord is what runs for a job on its machine. Where it is not known what that is, it has an id all the same.
func attemptWord(j *daemonapi.Job) string {
	if j.Kind == "" {
		return "id " + j.Owner
	}
	return daemonapi.KindWord(j.Kind) + " " + j.Owner
}

func jobColour(p term.Paint, status, text string) string {
	if status == "lost" {
		return p.Yellow(text)
	}
	return inState(p, status, text)
}

// jobShow is one job.
type jobShow struct{ job daemonapi.Job }

func (s jobShow) JSON() any { return s.job }

func (s jobShow) Over() bool { return true }

func (s jobShow) Facts() []term.Fact {
	return []term.Fact{{Text: "job " + shortID(s.job.ID) + ": " + jobStatus(&s.job), At: s.job.Since}}
}

func (s jobShow) Lines(p term.Paint, width, height int) []string {
	j := &s.job
	lines := []string{jobColour(p, jobStatus(j), "job "+j.ID+": "+jobStatus(j))}
	if old := jobsAsOf(j); old != "" {
		lines = append(lines, p.Yellow(term.Cut("  "+old, width)))
	}

	row := func(name, text string) {
		if text != "" {
			lines = append(lines, term.Wrapped(fmt.Sprintf("  %-10s ", name), plain.Line(text), width)...)
		}
	}

	row("project", j.Project)
	row("command", strings.Join(append([]string{j.Command}, j.Args...), " "))
	row("needs", strings.Join(j.Needs, ", "))
	row("only on", j.Only)
	row("on lost", j.OnLost)
	row("cap", j.Cap)
	if j.Reserve > 0 {
		row("reserves", dollars(j.Reserve))
	}

	row("added", j.Added.Local().Format("2006-01-02 15:04:05")+" on "+j.By)
	if j.Attempt > 0 {
		row("attempt", fmt.Sprintf("%d, on %s, %s", j.Attempt, j.Host, attemptWord(j)))
	}
	if j.Cancelling {
		row("", "it is being cancelled")
	}
	row("reason", j.Reason)
	if j.USD > 0 {
		row("cost", dollars(j.USD))
	}

	for _, why := range j.Waits {
		row("waits", why)
	}
	if len(j.Waits) == 0 { // else they are among them
		for _, host := range slices.Sorted(maps.Keys(j.Refused)) {
			row("refused", host+": "+j.Refused[host])
		}
	}

	if j.Decided != "" {
		row("decided", j.Decided+", on "+j.DecidedOn+", when its machine was lost")
	}
	if j.Asks != "" {
		row("decide", "stopgate decision show "+shortID(j.Asks))
	}
	if j.Decision != "" {
		row("decide", "stopgate decision answer "+shortID(j.Decision)+" wait|again|cancel")
	}
	return term.Fit(lines, height)
}
