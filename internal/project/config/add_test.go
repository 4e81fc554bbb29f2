package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

func someAdditions() Additions {
	return Additions{
		Checks: []*NewCheck{{Name: "test", Command: "npm test"}, {Name: "lint", Command: `bash -c 'a' &&` + "\n" + `bash -c '[[ x ]]'`, Timeout: time.Minute, Fixes: true}},
		Hooks:  []Command{{Event: hook.SubagentStop, Match: "coder*", Run: "echo: \"x\"", Timeout: 10 * time.Minute, OnFailure: Report}},
		Deny:   []Deny{{Paths: []string{"**/*.lock"}, Message: "no: # never"}, {Tools: "Write", Paths: []string{"*"}, New: true}},
	}
}

const newBlock = `entry_points:
  - path: .
    checks:
      - name: test
        command: npm test
      - name: lint
        command: |-
          bash -c 'a' &&
          bash -c '[[ x ]]'
        timeout: 60
        fix_instructions: fix/lint.md
hooks:
  SubagentStop:
    - match: "coder*"
      run: "echo: \"x\""
      timeout: "10m"
deny:
  - paths: ["**/*.lock"]
    message: "no: # never"
  - tools: Write
    paths: ["*"]
    new: true
`

func TestIssue19AddingKeepsWhatIsThere(t *testing.T) {
	for _, test := range []struct{ name, before, want string }{
		{"nothing", "", newBlock},
		{"comments", "# mine\nmode: observe # for now\n\n# end\n", "# mine\nmode: observe # for now\n" + newBlock + "\n# end\n"},
		{"no line end", "mode: observe", "mode: observe\n" + newBlock},
		{"other lists", `hooks:
  Stop:
    - run: |
        true
        # not the end
  # a comment
  SubagentStop:
  - run: x   # last

deny:
entry_points:
- path: src
  checks: [a]
- path: "."
  exclude: [docs]
  checks: [lint, {name: old, command: x}] # two
# the end
`, `hooks:
  Stop:
    - run: |
        true
        # not the end
  # a comment
  SubagentStop:
  - run: x   # last
  - match: "coder*"
    run: "echo: \"x\""
    timeout: "10m"

deny:
  - paths: ["**/*.lock"]
    message: "no: # never"
  - tools: Write
    paths: ["*"]
    new: true
entry_points:
- path: src
  checks: [a]
- path: "."
  exclude: [docs]
  checks: [lint, {name: old, command: x}, {name: "test", command: "npm test"}, {name: "lint-2", command: "bash -c 'a' &&\nbash -c '[[ x ]]'", timeout: 60, fix_instructions: "fix/lint-2.md"}] # two
# the end
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Add("config.yml", []byte(test.before), someAdditions())
			check(t, err)
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Fatal(diff)
			}
			again, err := Add("config.yml", got, someAdditions())
			check(t, err)
			if diff := cmp.Diff(string(got), string(again)); diff != "" {
				t.Errorf("a second time: %s", diff)
			}

			windows := strings.ReplaceAll(test.before, "\n", "\r\n")
			got, err = Add("config.yml", []byte(windows), someAdditions())
			check(t, err)
			if want := strings.ReplaceAll(test.want, "\n", "\r\n"); strings.Contains(windows, "\n") && string(got) != want {
				t.Error(cmp.Diff(want, string(got)))
			}
		})
	}
}

// A check counts as there only for the whole project, and two new ones never share a name.
func TestIssue19AddingNamesChecksApart(t *testing.T) {
	const before = "entry_points:\n  - path: src\n    checks:\n      - {name: test, command: npm test}\n"
	const want = before + "  - path: .\n    checks:\n      - name: test-2\n        command: npm test\n      - name: test-3\n        command: go test\n"
	checks := []*NewCheck{{Name: "test", Command: "npm test"}, {Name: "test", Command: "go test"}}
	got, err := Add("config.yml", []byte(before), Additions{Checks: checks})
	check(t, err)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// What cannot be added to as text is left alone, with the words to add by hand.
func TestIssue19AddingRefusesWhatItCannotRead(t *testing.T) {
	for _, before := range []string{
		"{mode: observe}\n", "deny: []\n", "hooks: {Stop: [{run: x}]}\n", "hooks: ~\n", "deny: [\n  {tools: x},\n]\n",
		"x: &a {path: .}\nentry_points: [*a]\n", "mode: [\n",
	} {
		if got, err := Add("config.yml", []byte(before), someAdditions()); err == nil || !strings.HasPrefix(err.Error(), "config.yml") {
			t.Errorf("%q became %q, %v", before, got, err)
		}
	}
}
