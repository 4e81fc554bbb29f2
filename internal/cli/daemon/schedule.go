package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewSchedule() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "schedule",
		Short: "Start commands and pipelines on a schedule",
		Long: `Start the commands and pipelines of a project that have a schedule in their runbook, at their
times. Nothing starts before you turn the project's schedules on, and only approved runbooks count.
The daemon must be running at the time.`,
		Example: `  stopgate schedule on
  stopgate schedule list`,
	}, newScheduleSwitch(true), newScheduleSwitch(false), newScheduleList())
}

func newScheduleSwitch(on bool) *cobra.Command {
	var project projectFlag
	var root string
	use, short, long := "on", "Turn a project's schedules on", `From now on, the daemon starts the commands and pipelines that have a schedule in the project's approved
runbooks, at their times.
The daemon is started if it is not running. Its agents cannot run this command.`
	if !on {
		use, short, long = "off", "Turn a project's schedules off", `Turn the project's schedules off: the daemon starts nothing more by them. What is running continues.
The daemon is started if it is not running.`
	}
	cmd := acts(&cobra.Command{
		Use: use, Short: short,
		Long: long + `

Exit code 0: done. 2: usage error, or the project has no schedule. 3: the daemon could not be started,
or the runbooks are not approved.`,
		Example: "  stopgate schedule " + use + "\n  stopgate schedule " + use + " --project ~/src/site",
		Args:    term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		all, err := p.SwitchSchedules(ctx, daemonapi.ScheduleSwitch{Project: root, On: on})
		if err != nil {
			return err
		}
		if !p.asJSON && !on {
			fmt.Fprintln(p.errOut, "schedules are off in "+term.Shown(root))
			return nil
		}
		return term.Once(p.out, p.asJSON, scheduleList(all, false, time.Now))
	})
	cmd.PreRunE = project.beforeSwitch(on, &root)
	project.add(cmd)
	return cmd
}

func newScheduleList() *cobra.Command {
	return projectList{
		all:  "list those of all projects whose schedules are on",
		idle: "schedules are on, but nothing starts while the daemon is not running",
		list: func(ctx context.Context, p *Daemon, root string, _ []string) (term.Glimpse, error) {
			all, err := p.Schedules(ctx, root)
			return scheduleList(all, root == "", time.Now), err
		},
	}.command(&cobra.Command{
		Use:   "list",
		Short: "List schedules with their next and last times",
		Long: `List what has a schedule in the project's approved runbooks: when it starts next, and the result of
the last time. With --all, list the schedules of all projects whose schedules are on.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate schedule list
  stopgate schedule list --all --json | jq -r '.[].next'`,
		Args: term.NoArgs,
	})
}

// scheduleList is schedules at one moment.
func scheduleList(all []daemonapi.Schedule, projects bool, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Schedule]{
		All: all,
		Fact: func(s *daemonapi.Schedule) string {
			return s.Kind + " " + plain.Line(s.Name) + ": " + nextTime(s, now())
		},
		Draw: func(p term.Paint, width, height int) []string {
			return scheduleLines(all, projects, now(), p, width, height)
		},
	}
}

func scheduleLines(all []daemonapi.Schedule, projects bool, now time.Time, p term.Paint, width, height int) []string {
	if len(all) == 0 {
		return []string{term.Cut("no schedules", width), p.Faint(term.Cut(`add one to a command or a pipeline of a runbook: schedule = "0 3 * * 1-5"`, width))}
	}

	head := []string{"NAME", "SCHEDULE", "NEXT", "LAST", ""}
	if projects {
		head = append([]string{"PROJECT"}, head...)
	}

	rows := [][]string{head}
	off := false
	for i := range all {
		s := &all[i]
		row := []string{plain.Line(s.Name), plain.Line(s.Cron + " " + s.Timezone), nextTime(s, now)}
		row = append(row, lastTime(s, now)...)
		if projects {
			row = append([]string{plain.Line(filepath.Base(s.Project))}, row...)
		}
		rows = append(rows, row)
		off = off || !s.On
	}

	lines := term.Table(rows, width, term.Headed(p, func(_, _ int, text string) string { return text }))
	if off {
		lines = append(lines, p.Yellow(term.Cut("schedules are off here; turn them on with: stopgate schedule on", width)))
	}
	return term.Fit(lines, height)
}

// nextTime is when a schedule is due next, for people.
func nextTime(s *daemonapi.Schedule, now time.Time) string {
	if s.Next == nil {
		return "off"
	}
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		zone = time.Local
	}
	return s.Next.In(zone).Format("Mon 2006-01-02 15:04") + ", in " + term.Age(now, s.Next.Round(time.Second))
}

// lastTime is what became of the last time at which something was due, in two columns.
func lastTime(s *daemonapi.Schedule, now time.Time) []string {
	last := s.Last
	switch {
	case last == nil:
		return []string{"-", ""}
	case last.Owner == "":
		return []string{term.Age(last.Due, now) + " ago: not started", plain.Line(last.Error)}
	}
	return []string{term.Age(last.Due, now) + " ago: " + shortID(last.Owner) + " " + last.Status, plain.Line(last.Error)}
}
