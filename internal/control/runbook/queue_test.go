package runbook

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const fixer = `
[queue.issues]
vars = ["number", "title"]
defaults = { title = "untitled" }
key = "number"
retry = { attempts = 3, backoff = "1m" }
source = { command = "gh issue list --json number,title", every = "10m" }

[worker.fixer]
queue = "issues"
run = { pipeline = "fix" }
limit = 3

[pipeline.fix]
vars = ["number"]
[[pipeline.fix.step]]
name = "a"
run = 'echo "${var.number}" "${var.title}"'
`

const fixerHCL = `
queue "issues" {
  vars     = ["number", "title"]
  defaults = { title = "untitled" }
  key      = "number"
  retry    = { attempts = 3, backoff = "1m" }
  source {
    command = "gh issue list --json number,title"
    every   = "10m"
  }
}

worker "fixer" {
  queue = "issues"
  run   = { pipeline = "fix" }
  limit = 3
}

pipeline "fix" {
  vars = ["number"]
  step "a" {
    run = "echo \"${var.number}\" \"${var.title}\""
  }
}
`

func TestQueues(t *testing.T) {
	inBothFormats(t, func(t *testing.T, format string) {
		text := map[string]string{"toml": fixer, "hcl": fixerHCL}[format]
		book, faults := Parse("x."+format, []byte(text), noFile)
		if len(faults) > 0 || len(book.Warnings) > 0 {
			t.Fatal(faults, book.Warnings)
		}
		queue := Queue{
			"issues",
			[]string{"number", "title"},
			map[string]string{"title": "untitled"},
			"number",
			Retry{3, time.Minute},
			Source{"gh issue list --json number,title", 10 * time.Minute},
		}
		workers := (Set{Runbooks: []Runbook{book}}).Workers()
		if diff := cmp.Diff(queue, book.Queues["issues"]); diff != "" || len(workers) != 1 || workers[0].Limit != 3 || workers[0].Queue.Name != "issues" {
			t.Errorf("%s%+v", diff, workers)
		}
		command := workers[0].Start(map[string]string{"number": "7"})
		vars, err := book.Vars(command, nil)
		if plan, _ := book.Plan(command); err != nil || !maps.Equal(vars, map[string]string{"number": "7", "title": "untitled"}) || plan.Pipeline.Name != "fix" {
			t.Error(vars, err, plan)
		}
	})
}

func TestQueueFaults(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`queue = "issues"`, `queue = "isues"`}:                       "x.toml:10:9: there is no queue \"isues\"; did you mean \"issues\"?",
		{`run = { pipeline = "fix" }`, `run = { pipeline = "fixx" }`}: "x.toml:11:20: there is no pipeline \"fixx\"; did you mean \"fix\"?",
		{`run = { pipeline = "fix" }`, `run = "fix"`}:                 "x.toml:11:7: run of a worker must name a pipeline",
		{`limit = 3`, `limit = 0`}:                                    "x.toml:12:9: limit must be a whole number, 1 or more",
		{`key = "number"`, `key = "numbr"`}:                           "x.toml:5:7: there is no variable \"numbr\" in queue \"issues\"; did you mean \"number\"?",
		{`key = "number"`, ``}:                                        "x.toml:7:1: a queue with a source needs a key",
		{`vars = ["number", "title"]`, `vars = []`}:                   "a queue needs a variable",
		{`vars = ["number", "title"]`, `vars = ["number"]`}:           "there is no variable \"title\" in queue \"issues\"",
		{`attempts = 3`, `attempts = 0`}:                              "attempts must be a whole number",
		{`every = "10m"`, `every = "often"`}:                          "is not a valid duration",
		{`command = "gh`, `comand = "gh`}:                             "command",
		{`"${var.title}"`, `"${var.titel}"`}:                          "${var.titel} has no value: worker \"fixer\"",
		{`[worker.fixer]`, `[wroker.fixer]`}:                          "did you mean \"worker\"?",
		{`source = {`, `poll = "1m"` + "\nsource = {"}:                "poll is not supported",
		{`every = "10m"`, `every = "999ms"`}:                          "a source is asked at most once a second",
	} {
		text := strings.Replace(fixer, change[0], change[1], 1)
		_, faults := Parse("x.toml", []byte(text), noFile)
		for part := range strings.SplitSeq(want, "; ") {
			if len(faults) == 0 || !strings.Contains(faults.Detail(), part) || !strings.HasPrefix(faults.Error(), "x.toml:") {
				t.Errorf("%s: want %s, got %v", change[1], part, faults)
			}
		}
	}
	_, faults := Parse("x.toml", []byte(strings.ReplaceAll(fixer, "[worker.fixer]\nqueue = \"issues\"\nrun = { pipeline = \"fix\" }\nlimit = 3\n", "")), noFile)
	if len(faults) > 0 {
		t.Error(faults)
	}
}

// Queues and workers of oddjobs that mean the same are read as they are.
func TestQueuesOfOddjobs(t *testing.T) {
	const text = `
queue "bugs" {
  type     = "persisted"
  vars     = ["id", "title"]
  defaults = { title = "" }
  retry    = { attempts = 2, cooldown = "30" }
}
worker "bugs" {
  source      = { queue = "bugs" }
  handler     = { job = "bug" }
  concurrency = 4
}
job "bug" {
  vars = ["bug"]
  step "a" {
    run = "echo \"${var.bug.title}\" \"${var.id}\""
  }
}
`
	d := newDecoder(origin{dir: ".", oddjobs: true, read: noFile}, "x.hcl", "x.hcl", []byte(text))
	d.read()
	if faults := d.allFaults(); len(faults) > 0 {
		t.Fatal(faults.Detail())
	}
	book := d.book()
	w := (Set{Runbooks: []Runbook{book}}).Workers()[0]
	if w.Limit != 4 || w.Run.Pipeline != "bug" || w.Queue.Attempts() != 2 || w.Queue.Retry.Backoff != 30*time.Second {
		t.Errorf("%+v", w)
	}
	vars, err := book.Vars(w.Start(map[string]string{"id": "1", "title": "x"}), nil)
	if got := slices.Sorted(maps.Keys(vars)); err != nil || vars["bug.title"] != "x" || !slices.Equal(got, []string{"bug", "bug.id", "bug.title", "id", "title"}) {
		t.Error(vars, err)
	}
}
