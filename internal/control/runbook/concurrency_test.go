package runbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readPipeline reads a pipeline with a line in it, which is the fourth.
func readPipeline(format, line string) (Pipeline, Faults) {
	text := "# a\n# b\n[pipeline.p]\n" + line + "\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"true\"\n[command.d]\nargs = \"<env>\"\nrun = { pipeline = \"p\" }\n"
	if format == "hcl" {
		text = "# a\n# b\npipeline \"p\" {\n" + line + "\nstep \"a\" {\nrun = \"true\"\n}\n}\ncommand \"d\" {\nargs = \"<env>\"\nrun = { pipeline = \"p\" }\n}\n"
	}
	book, faults := Parse("x."+format, []byte(text), noFile)
	return book.Pipelines["p"], faults
}

func TestConcurrency(t *testing.T) {
	for line, want := range map[string]Concurrency{
		`concurrency = "deploy-${var.env}"`:                                     {"deploy-${var.env}", 1, FullWait},
		`concurrency = { group = "deploy" }`:                                    {"deploy", 1, FullWait},
		`concurrency = { group = "${name}", limit = 3, when_full = "cancel" }`:  {"${name}", 3, FullCancel},
		`concurrency = { group = "${project}-${invoke.dir}", when_full="wait"}`: {"${project}-${invoke.dir}", 1, FullWait},
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			p, faults := readPipeline(format, line)
			if diff := cmp.Diff(want, p.Concurrency); diff != "" || len(faults) > 0 {
				t.Errorf("%s: %s%v", line, diff, faults)
			}
		})
	}
}

func TestConcurrencyFaults(t *testing.T) {
	for line, want := range map[string]string{
		`concurrency = 1`:                                       `{ group = "deploy", limit = 2, when_full = "wait" }`,
		`concurrency = ""`:                                      "concurrency is empty",
		`concurrency = { limit = 2 }`:                           `group`,
		`concurrency = { group = "a", limit = 0 }`:              "limit must be a whole number, 1 or more",
		`concurrency = { group = "a", when_full = "cancl" }`:    `did you mean "cancel"?`,
		`concurrency = { group = "a", when_ful = "cancel" }`:    "when_full",
		`concurrency = "x-${var.evn}"`:                          `did you mean "env"?`,
		`concurrency = "x-${steps.a.output.x}"`:                 "${steps.a.output.x} cannot be used in concurrency",
		`concurrency = { group = "x-${workspace.path}" }`:       "${workspace.path} cannot be used in group",
		`concurrency = { group = "x-${pipeline_id}" }`:          "${pipeline_id} cannot be used in group",
		`concurrency = { group = "x-${local.y}", limit = 1000}`: "local.y",
	} {
		inBothFormats(t, func(t *testing.T, format string) {
			_, faults := readPipeline(format, line)
			if len(faults) != 1 || !strings.Contains(faults.Detail(), want) || !strings.Contains(faults.Error(), "x."+format+":4:") {
				t.Errorf("%s: want %q, got %v\n%s", line, want, faults, faults.Detail())
			}
		})
	}
}
