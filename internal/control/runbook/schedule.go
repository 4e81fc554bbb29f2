package runbook

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/cron"
	"github.com/stopgate/stopgate/internal/project/document"
)

// Schedule is when a command or a pipeline is started by the clock. Without times it never is.
type Schedule struct {
	Cron   string // five fields
	Zone   string // "" is the machine's
	Missed Missed
	Args   []string          // of a command
	Vars   map[string]string // of a pipeline
}

// Missed is what becomes of times at which no daemon ran.
type Missed string

// What becomes of them.
const (
	MissedSkip Missed = "skip" // nothing
	MissedOnce Missed = "once" // it is started once, however many there were
)

// Location is the schedule's time zone.
func (s Schedule) Location() *time.Location {
	if s.Zone != "" {
		if zone, err := time.LoadLocation(s.Zone); err == nil {
			return zone
		}
	}
	return time.Local
}

// Next is the first time after a moment; zero where there is none.
func (s Schedule) Next(after time.Time) time.Time {
	times, err := cron.Parse(s.Cron)
	if err != nil { // it was checked
		return time.Time{}
	}
	return times.Next(after, s.Location())
}

// Scheduled is a command or a pipeline with a schedule.
type Scheduled struct {
	Schedule
	Kind    string // command, pipeline
	Command Command
	Runbook Runbook
}

// Key names it in its project: with its runbook, since others may have one of the same name.
func (s Scheduled) Key() string { return s.Runbook.Name + " " + s.Kind + " " + s.Command.Name }

// Scheduled are what the runbooks start by the clock, by their keys.
func (s Set) Scheduled() (all []Scheduled) {
	for _, book := range s.Runbooks {
		for _, name := range slices.Sorted(maps.Keys(book.Commands)) {
			if c := book.Commands[name]; c.Schedule.Cron != "" {
				all = append(all, Scheduled{c.Schedule, "command", c, book})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(book.Pipelines)) {
			if p := book.Pipelines[name]; p.Schedule.Cron != "" {
				all = append(all, Scheduled{p.Schedule, "pipeline", p.starter(p.Schedule.Vars), book})
			}
		}
	}
	return all
}

// starter is a command that no person has, which runs a pipeline with values for its variables.
func (p Pipeline) starter(vars map[string]string) Command {
	return Command{Name: p.Name, Defaults: vars, Run: Run{Pipeline: p.Name}}
}

// schedule reads when something starts by the clock: five fields, or a table.
func (d *decoder) schedule(fields func(*Schedule) []field, ref string) typeOf[Schedule] {
	const forms = `write "0 3 * * 1-5", or { cron = "0 3 * * 1-5", timezone = "Europe/Berlin" }`
	return document.New(func(v value, s *Schedule) bool {
		*s = Schedule{Missed: MissedSkip}
		switch v.Node.Kind() {
		case document.Text:
			return fiveFields.Read(v, &s.Cron)
		case document.Mapping:
			return v.Mapping(fields(s)...)
		}
		return is(v, document.Mapping, forms)
	}, func() schema { return document.AnyOf(fiveFields.Schema(), document.Ref(ref)()) })
}

func commandScheduleFields(s *Schedule) []field {
	return append(scheduleFields(s), document.Key("args", &s.Args, textList, "Arguments of the command."))
}

func pipelineScheduleFields(s *Schedule) []field {
	return append(scheduleFields(s), document.Key("vars", &s.Vars, texts(badName, nameSchema, text), "Values of the pipeline's variables."))
}

func scheduleFields(s *Schedule) []field {
	return []field{
		document.Key("cron", &s.Cron, fiveFields, "Minute, hour, day, month and weekday, or such as @daily.").Needed(),
		document.Key("timezone", &s.Zone, timeZone, "Such as Europe/Berlin. Default: the machine's."),
		document.Key("missed", &s.Missed, oneOf("value", MissedSkip, MissedOnce), "What happens to times at which the daemon did not run.").Default(MissedSkip),
	}
}

// fiveFields is when something starts.
var fiveFields = document.Then(text, func(v value, fields string) (string, bool) {
	var bad *cron.Error
	if _, err := cron.Parse(fields); errors.As(err, &bad) {
		at := insideText(v, bad.At)
		if at.size == 1 {
			at.size = max(bad.Size, 1)
		}
		v.Source.Fault(at, bad.Message, bad.Hint)
		return "", false
	}
	return fields, true
})

// timeZone is a name of the time zone database.
var timeZone = document.Then(text, func(v value, name string) (string, bool) {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		wrong(v, "there is no time zone "+quote(name), `names are those of the IANA time zone database, such as "Europe/Berlin" or "UTC"`)
		return "", false
	}
	return name, true
})

// textList is a list of texts, which may be empty.
var textList = document.ListOf(anyText, `such as: ["main", "--quick"]`)

// checkSchedules sees to it that what starts by the clock can be started.
func (d *decoder) checkSchedules() {
	for _, c := range d.commands {
		if c.Schedule.Cron == "" || c.broken {
			continue
		}
		defaults := maps.Clone(c.Defaults)
		for _, p := range d.allPipelines() {
			if p.Name == c.Run.Pipeline {
				defaults = with(maps.Clone(p.Defaults), defaults)
			}
		}
		if _, err := c.Args.parse(c.Schedule.Args, defaults); err != nil {
			d.fault(c.scheduleAt, "the schedule cannot start command "+quote(c.Name)+": "+err.Error(), `give its arguments: schedule = { cron = "…", args = ["…"] }`)
		}
	}
}

// starters are what runs pipelines besides commands, as commands that no person has.
func (d *decoder) starters() (all []*commandDraft) {
	for _, p := range d.pipelines {
		if p.Schedule.Cron != "" {
			all = append(all, &commandDraft{
				Command: p.starter(p.Schedule.Vars), home: d, at: p.at, runAt: p.at, starter: "the schedule of pipeline " + quote(p.Name),
			})
		}
	}
	return append(all, d.workerStarters()...)
}

// starting are all that start something.
func (d *decoder) starting() []*commandDraft { return slices.Concat(d.commands, d.starters()) }
