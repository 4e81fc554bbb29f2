package runbook

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSchedules(t *testing.T) {
	for line, want := range map[string]Schedule{
		`schedule = "0 3 * * 1-5"`: {Cron: "0 3 * * 1-5", Missed: MissedSkip},
		`schedule = { cron = "@daily", timezone = "Europe/Berlin", missed = "once", vars = { env = "prod" } }`: {
			Cron: "@daily", Zone: "Europe/Berlin", Missed: MissedOnce, Vars: map[string]string{"env": "prod"},
		},
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			p, faults := readPipeline(format, line)
			if diff := cmp.Diff(want, p.Schedule); diff != "" || len(faults) > 0 {
				t.Errorf("%s: %s%v", line, diff, faults)
			}
		})
	}
	s := Schedule{Cron: "0 3 * * *", Zone: "Europe/Berlin"}
	if next := s.Next(time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)); !next.Equal(time.Date(2026, 1, 2, 2, 0, 0, 0, time.UTC)) {
		t.Error(next)
	}
}

// What starts by the clock, with what it is given.
func TestScheduled(t *testing.T) {
	const text = `
[command.c]
args = "<env> [--quick]"
run = { pipeline = "p" }
schedule = { cron = "@daily", args = ["prod", "--quick"] }
[pipeline.p]
defaults = { env = "test" }
schedule = { cron = "@weekly", vars = { quick = "no" } }
[[pipeline.p.step]]
name = "a"
run = 'echo "${var.env}" "${var.quick}"'
`
	book, faults := Parse("x.toml", []byte(text), noFile)
	if len(faults) > 0 || len(book.Warnings) > 0 {
		t.Fatal(faults, book.Warnings)
	}
	var got []string
	for _, s := range (Set{Runbooks: []Runbook{book}}).Scheduled() {
		vars, err := book.Vars(s.Command, s.Args)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s.Key()+": "+s.Cron+" "+vars["env"]+" "+vars["quick"])
	}
	if diff := cmp.Diff([]string{"x.toml command c: @daily prod true", "x.toml pipeline p: @weekly test no"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestScheduleFaults(t *testing.T) {
	for line, want := range map[string]string{
		`schedule = 3`:                `write "0 3 * * 1-5", or { cron`,
		`schedule = "0 3 * *"`:        "has 4 fields; cron has 5",
		`schedule = "0 25 * * *"`:     "x.EXT:4:15: hour: 25 is not between 0 and 23",
		`schedule = "0 0 * * monday"`: "write mon",
		`schedule = "@dayly"`:         `"@dayly" is unknown`,
		`schedule = { cron = "@daily", timezone = "Europe/Bern" }`: "IANA time zone database",
		`schedule = { cron = "@daily", missed = "all" }`:           `unknown value "all"`,
		`schedule = { timezone = "UTC" }`:                          "cron",
		`schedule = { cron = "@daily", args = ["a"] }`:             "args",
		`schedule = { cron = "@daily", when = "a" }`:               "when",
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			_, faults := readPipeline(format, line)
			if want := strings.ReplaceAll(want, "EXT", format); len(faults) != 1 || !strings.Contains(faults.Detail(), want) || !strings.Contains(faults.Error(), "x."+format+":4:") {
				t.Errorf("%s: want %q, got %v\n%s", line, want, faults, faults.Detail())
			}
		})
	}
	for text, want := range map[string]string{
		"[command.c]\nargs = \"<env>\"\nschedule = \"@daily\"\nrun = \"true\"\n":                                          "x.toml:3:12: the schedule cannot start command \"c\": ",
		"[command.c]\nargs = \"<env>\"\nschedule = { cron = \"@daily\", args = [\"a\\u0000\", \"b\"] }\nrun = \"true\"\n": "x.toml:3:39: entry 1 of args contains a NUL byte",
		"[command.c]\nargs = \"<env>\"\nschedule = { cron = \"@daily\", args = [\"a\", \"b\"] }\nrun = \"true\"\n":        "x.toml:3:12: the schedule cannot start command \"c\": ",
		"[pipeline.p]\nschedule = \"@daily\"\n[[pipeline.p.step]]\nname = \"a\"\nrun = 'echo \"${var.env}\"'\n":           "x.toml:5:14: ${var.env} has no value: the schedule of pipeline \"p\" has no such argument",
		"[pipeline.p]\nschedule = \"@daily\"\nvars = [\"env\"]\n[[pipeline.p.step]]\nname = \"a\"\nrun = 'true'\n":        "x.toml:3:9: no command gives variable \"env\"",
	} {
		_, faults := Parse("x.toml", []byte(text), noFile)
		if len(faults) != 1 || !strings.HasPrefix(faults.Error(), want) {
			t.Errorf("%s\nwant %s, got %v", text, want, faults)
		}
	}
}
