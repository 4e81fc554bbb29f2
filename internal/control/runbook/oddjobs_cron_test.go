package runbook

import (
	"strings"
	"testing"
)

// A cron of oddjobs is the schedule of its pipeline, where times of the clock can say the same.
func TestIssue19CronsOfOddjobs(t *testing.T) {
	const pipeline = "\njob \"sweep\" {\n step \"a\" {\n run = \"true\"\n }\n}\n"
	for text, want := range map[string]string{
		`interval = "1m"`:  "* * * * *",
		`interval = "30m"`: "*/30 * * * *",
		`interval = "60"`:  "* * * * *", // seconds
		`interval = "1h"`:  "0 * * * *",
		`interval = "6h"`:  "0 */6 * * *",
		`interval = "1d"`:  "0 0 * * *",
		`interval = "7d"`:  "0 0 * * 0",
		`interval = "45m"`: "", `interval = "5h"`: "", `interval = "10s"`: "", `interval = "90s"`: "", `interval = "soon"`: "", `interval = "-30m"`: "",
		`interval = "30m"` + "\n" + `jitter = "1m"`: "",
	} {
		book, err := readOddjobs("cron \"x\" {\n" + text + "\n concurrency = 1\n run = { job = \"sweep\" }\n}\n" + pipeline)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), `cron is not supported: "x"`) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err != nil || book.Pipelines["sweep"].Schedule.Cron != want {
			t.Errorf("%s: %v, %q", text, err, book.Pipelines["sweep"].Schedule.Cron)
		}
		if len(book.Warnings) != 1 || !strings.Contains(book.Warnings[0].Message, `cron "x" starts its pipeline at times of the clock: `+want) {
			t.Errorf("%s: %v", text, book.Warnings)
		}
	}
}

// What a cron of oddjobs cannot become stays a fault, and costs no other one.
func TestIssue19CronsThatStay(t *testing.T) {
	for name, text := range map[string]string{
		"an agent":                "cron \"x\" {\n interval = \"1h\"\n run = { agent = \"a\" }\n}\n",
		"no such pipeline":        "cron \"x\" {\n interval = \"1h\"\n run = { pipeline = \"p\" }\n}\n",
		"a pipeline with two":     "cron \"w\" {\n interval = \"1h\"\n run = { pipeline = \"q\" }\n}\ncron \"x\" {\n interval = \"1d\"\n run = { pipeline = \"q\" }\n}\npipeline \"q\" {\n step \"a\" {\n run = \"true\"\n }\n}\n",
		"nothing":                 "cron \"x\" {\n}\n",
		"a pipeline and an agent": "cron \"x\" {\n interval = \"1h\"\n run = { pipeline = \"q\", agent = \"a\" }\n}\npipeline \"q\" {\n step \"a\" {\n run = \"true\"\n }\n}\n",
	} {
		if _, err := readOddjobs(text); err == nil || !strings.Contains(err.Error(), `cron is not supported: "x"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each cron that stays is a fault at its own place, wherever its table is.
func TestIssue19ACronThatStaysIsNamedWhereItIs(t *testing.T) {
	const text = "[cron.hourly]\ninterval = \"1h\"\nrun = { pipeline = \"p\" }\n\n[cron.odd]\ninterval = \"7h\"\nrun = { pipeline = \"p\" }\n\n[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"true\"\n\n[cron.third]\ninterval = \"11h\"\n"
	_, err := readOddjobsFile("x.toml", text)
	if err == nil || err.Error() != "x.toml:5:7: cron is not supported: \"odd\"\nx.toml:14:7: cron is not supported: \"third\"" {
		t.Error(err)
	}
}

func readOddjobs(text string) (Runbook, error) { return readOddjobsFile("x.hcl", text) }

func readOddjobsFile(name, text string) (Runbook, error) {
	d := newDecoder(origin{dir: ".", oddjobs: true, read: noFile}, name, name, []byte(text))
	d.read()
	if faults := d.allFaults(); len(faults) > 0 {
		return Runbook{}, faults
	}
	return d.book(), nil
}
