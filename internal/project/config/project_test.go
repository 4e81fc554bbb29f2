package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// designExample is the one in docs/design.md.
const designExample = `hooks:
  SubagentStop:
    - match: "coder*"          # glob over agent_type or agent_id; default "*"
      run: ./scripts/after-agent.sh
      timeout: 60s             # default 60s, whole process group killed
  Stop:
    - run: make lint
      on_failure: block        # report (default for other events) | block (default for Stop)
      message: fix the lint errors
      output_lines: 40         # the last ones
`

func TestDesignExample(t *testing.T) {
	got := project(t, designExample)
	want := &Project{Gauntlet: defaultGauntlet(), Hooks: map[hook.Event][]Command{
		hook.SubagentStop: {{
			Event:       hook.SubagentStop,
			Match:       "coder*",
			Run:         "./scripts/after-agent.sh",
			Timeout:     time.Minute,
			OnFailure:   Report,
			OutputLines: 40,
			Pos:         document.Position{File: "config.yml", Line: 3, Column: 7},
		}},
		hook.Stop: {{
			Event:       hook.Stop,
			Match:       "*",
			Run:         "make lint",
			Timeout:     time.Minute,
			OnFailure:   Block,
			Message:     "fix the lint errors",
			OutputLines: 40,
			Pos:         document.Position{File: "config.yml", Line: 7, Column: 7},
		}},
	}}
	if diff := cmp.Diff(want, got, drafts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// drafts lets tests compare what is unexported.
var drafts = cmp.AllowUnexported(Project{}, entryDraft{}, listed[checkDraft]{}, listed[Review]{}, checkDraft{}, mention{})

func TestOnFailureDefault(t *testing.T) {
	p := project(t, "hooks: {Stop: [run: a], SubagentStop: [run: a], SessionEnd: [run: a]}")
	for event, want := range map[hook.Event]OnFailure{
		hook.Stop: Block, hook.SubagentStop: Report, hook.SessionEnd: Report,
	} {
		if got := p.Hooks[event][0].OnFailure; got != want {
			t.Errorf("%s: got %s, want %s", event, got, want)
		}
	}
}

func TestNoHooks(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "# nothing yet\n", "---\n", "---\n...\n", "null\n", "{}\n", "\ufeff",
		"hooks:\n", "hooks: {}\n", "hooks: ~\n", "hooks:\n  Stop:\n", "hooks:\n  Stop: []\n",
		"---\nhooks:\n...\n",
	} {
		if p := project(t, text); len(p.Hooks) != 0 {
			t.Errorf("%q: got %v", text, p.Hooks)
		}
	}
}

// What a command looks like does not depend on how the YAML was written.
func TestSpellings(t *testing.T) {
	for name, text := range map[string]string{
		"block":          "hooks:\n  Stop:\n    - run: make lint\n    - run: make test\n",
		"flush list":     "hooks:\n  Stop:\n  - run: make lint\n  - run: make test\n",
		"flow":           `{hooks: {Stop: [{run: make lint}, {"run": 'make test'}]}}`,
		"CRLF":           "hooks:\r\n  Stop:\r\n    - run: make lint\r\n    - run: make test\r\n",
		"CR":             "hooks:\r  Stop:\r    - run: make lint\r    - run: make test\r",
		"BOM":            "\ufeffhooks:\n  Stop:\n    - run: make lint\n    - run: make test\n",
		"comments":       "# a\nhooks: # b\n  # c\n  Stop: # d\n    # e\n    - run: make lint # f\n# g\n    - run: make test\n",
		"no last line":   "hooks:\n  Stop:\n    - run: make lint\n    - run: make test",
		"folded":         "hooks:\n  Stop:\n    - run: >-\n        make\n        lint\n    - run: make\n        test\n",
		"literal":        "hooks:\n  Stop:\n    - run: |-\n        make lint\n    - run: |-\n        make test\n",
		"anchor":         "hooks:\n  Stop:\n    - run: &lint make lint\n    - run: make test\n  SubagentStop: []\n",
		"merge":          "hooks:\n  Stop:\n    - &a {run: make lint}\n    - <<: *a\n      run: make test\n",
		"merge list":     "hooks:\n  Stop:\n    - &a {run: make lint}\n    - <<: [{run: make test}, *a]\n",
		"alias key":      "hooks:\n  Stop:\n    - {&run run: make lint}\n    - {*run : make test}\n",
		"tag":            "hooks: !!map\n  Stop: !!seq\n    - run: !!str make lint\n    - run: make test\n",
		"anchor and tag": "hooks:\n  Stop: &list !!seq\n    - run: make lint\n    - run: make test\n",
		"tabs":           "hooks:\n  Stop:\n    - run:\tmake lint\n    - run: make test\t# done\n",
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range project(t, text).Hooks[hook.Stop] {
				got = append(got, c.Run)
			}
			if diff := cmp.Diff([]string{"make lint", "make test"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAliasOfList(t *testing.T) {
	p := project(t, "hooks:\n  Stop: &both\n    - run: a\n    - run: b\n  SubagentStop: *both\n")
	got := p.Hooks[hook.SubagentStop]
	if len(got) != 2 || got[1].Run != "b" {
		t.Fatalf("got %v", got)
	}
	if got[1].Event != hook.SubagentStop || got[1].OnFailure != Report {
		t.Errorf("the defaults are those of another event: %+v", got[1])
	}
}

func TestLastAnchorOfANameWins(t *testing.T) {
	p := project(t, "hooks:\n  Stop:\n    - run: &x a\n    - run: *x\n    - run: &x b\n    - run: *x\n")
	var got []string
	for _, c := range p.Hooks[hook.Stop] {
		got = append(got, c.Run)
	}
	if diff := cmp.Diff([]string{"a", "a", "b", "b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBlockScalarKeepsItsLines(t *testing.T) {
	p := project(t, "hooks:\r\n  Stop:\r\n    - run: |\r\n        set -e\r\n        if x; then\r\n          y\r\n        fi\r\n\r\n      timeout: 5s\r\n")
	c := p.Hooks[hook.Stop][0]
	if c.Run != "set -e\nif x; then\n  y\nfi\n" || c.Timeout != 5*time.Second {
		t.Errorf("got %+v", c)
	}
}

func TestLoadProjectShowsTheUsersPath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yml"), "hooks:\n  Stop:\n    - rnu: a\n")
	_, err := LoadProject(dir, ".gauntlet")
	if want := filepath.Join(".gauntlet", "config.yml") + `:3:7: unknown key "rnu"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	write(t, filepath.Join(dir, "config.yml"), "hooks:\n  Stop:\n    - run: a\n")
	p, err := LoadProject(dir, ".gauntlet")
	check(t, err)
	if got := p.Hooks[hook.Stop][0].Pos.String(); got != filepath.Join(".gauntlet", "config.yml")+":3:7" {
		t.Errorf("position %s", got)
	}
}

func BenchmarkLoadProject(b *testing.B) {
	dir := b.TempDir()
	check(b, os.WriteFile(filepath.Join(dir, "config.yml"), []byte(designExample), 0o600))
	for b.Loop() {
		if _, err := LoadProject(dir, ".gauntlet"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseProject100Commands(b *testing.B) {
	data := []byte("hooks:\n  Stop:\n" + strings.Repeat("    - run: make lint\n      timeout: 60s\n      message: fix it\n", 100))
	for b.Loop() {
		if _, err := ParseProject("config.yml", data); err != nil {
			b.Fatal(err)
		}
	}
}

func project(t *testing.T, text string) *Project {
	t.Helper()
	p, err := ParseProject("config.yml", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return p
}

var write = checktest.Write

func TestIssue19DenyIsRead(t *testing.T) {
	project, err := parseProject("config.yml", []byte(`
deny:
  - paths: [src/, "**/*.lock"]
    new: true
    message: no
  - {tools: Write, commands: ["git push*"]}
`))
	check(t, err)
	want := []Deny{
		{Paths: []string{"src", "**/*.lock"}, New: true, Message: "no"},
		{Tools: "Write", Commands: []string{"git push*"}},
	}
	if diff := cmp.Diff(want, project.Deny); diff != "" {
		t.Error(diff)
	}
	lines := []string{`{paths: ["src", "**/*.lock"], new: true}`, `{tools: "Write", commands: ["git push*"]}`}
	if diff := cmp.Diff(lines, project.Denials()); diff != "" {
		t.Error(diff)
	}
	if !project.HasRules(hook.PreToolUse) || project.HasRules(hook.Stop) {
		t.Error("the rules are for another event")
	}
}
