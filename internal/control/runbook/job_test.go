package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A command, or a worker, is a job of the fleet where the runbook says so, in each of the languages.
func TestIssue20JobsInRunbooks(t *testing.T) {
	want := map[string]Job{
		"here": {}, "plain": {On: true, OnLost: LostAsk}, "off": {OnLost: LostAsk},
		"train": {On: true, Needs: []string{"gpu", "linux"}, OnLost: LostAgain, Cap: "nightly"},
	}
	for name, text := range map[string]string{
		"x.toml": `
[command.here]
run = "true"
[command.plain]
run = "true"
job = true
[command.off]
run = "true"
job = false
[command.train]
run = "true"
job = { needs = ["gpu", "linux"], on_lost = "again", cap = "nightly" }
[queue.q]
vars = ["n"]
[pipeline.p]
vars = ["n"]
[[pipeline.p.step]]
name = "one"
run = "echo \"${var.n}\""
[worker.w]
queue = "q"
run = { pipeline = "p" }
job = { cap = "nightly" }
`,
		"x.hcl": `
command "here" {
  run = "true"
}
command "plain" {
  run = "true"
  job = true
}
command "off" {
  run = "true"
  job = false
}
command "train" {
  run = "true"
  job {
    needs   = ["gpu", "linux"]
    on_lost = "again"
    cap     = "nightly"
  }
}
queue "q" {
  vars = ["n"]
}
pipeline "p" {
  vars = ["n"]
  step "one" {
    run = "echo \"$${var.n}\""
  }
}
worker "w" {
  queue = "q"
  run   = { pipeline = "p" }
  job {
    cap = "nightly"
  }
}
`,
	} {
		book, faults := Parse(name, []byte(text), noFile)
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		for command, job := range want {
			if diff := cmp.Diff(job, book.Commands[command].Job); diff != "" {
				t.Errorf("%s: %s: %s", name, command, diff)
			}
		}
		if diff := cmp.Diff(Job{On: true, OnLost: LostAsk, Cap: "nightly"}, book.Workers["w"].Job); diff != "" {
			t.Errorf("%s: worker: %s", name, diff)
		}
	}
}

func TestMistakesInJobs(t *testing.T) {
	for job, want := range map[string]string{
		`"yes"`:                 "job",
		`{ needs = "gpu" }`:     "needs",
		`{ needs = ["a.b"] }`:   `"a.b" has other characters than a-z, 0-9 and -`,
		`{ on_lost = "never" }`: "never",
		`{ cap = "" }`:          "cap",
		`{ labels = ["gpu"] }`:  "labels",
	} {
		_, faults := Parse("x.toml", []byte("[command.c]\nrun = \"true\"\njob = "+job+"\n"), noFile)
		if len(faults) == 0 || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v", job, faults)
		}
	}
}
