package runbook

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bookOf reads a runbook with one agent.
func bookOf(t *testing.T, run, more string) (Runbook, Faults) {
	t.Helper()
	return Parse("x.toml", []byte("[agent.a]\nrun = "+strconv.Quote(run)+"\n"+more+"\n"), noFile)
}

func TestWhoIsAClient(t *testing.T) {
	for run, want := range map[string]bool{
		"claude":                                  true,
		" claude\n":                               true,
		"claude --model opus":                     true,
		"claude --model \\\n  opus\n":             true,
		"'claude' --append-system-prompt 'a; b'":  true,
		`"${HOME}/bin/claude" -d`:                 true,
		"~/bin/claude":                            true,
		"/usr/local/bin/claude.exe":               true,
		"A=1 B='x y' claude":                      true,
		`claude "${prompt}"`:                      true,
		`claude --model "$MODEL" 'a | b' "c > d"`: true,
		"ccc":                           true,
		"ccc kimi --model x":            true,
		"ccc -- --model x":              true,
		"stopgate claude glm":           true,
		"/opt/stopgate claude":          true,
		"claude-wrapper":                false,
		"my-agent --model claude":       false,
		"stopgate status":               false,
		"stopgate":                      false,
		"ccc supervisor-hook":           false,
		"ccc provider list":             false,
		"$CLAUDE":                       false,
		"${var.x}claude":                false,
		"A=1":                           false,
		"sh -c 'claude -p x'":           false,
		"./run.sh # claude":             false,
		"cat <<EOF\nclaude\nEOF":        false,
		"case $x in\nclaude) y ;; esac": false,
		"claude() { true; }\nfoo":       false,
		"echo claude; true":             false,
		"echo 'x\nclaude' && true":      false,
	} {
		book, faults := bookOf(t, run, "")
		if run == "${var.x}claude" {
			faults = nil // the variable has no value
		}
		if got := book.Agents["a"]; got.ClaudeCode != want || len(faults) > 0 {
			t.Errorf("%q: %v, %v", run, got.ClaudeCode, faults)
		} else if want && got.Run != strings.TrimSpace(run) {
			t.Errorf("%q runs %q", run, got.Run)
		}
	}
}

// What starts the client and cannot be given a terminal is a fault, not a process that
// nobody can talk to.
func TestClientsThatAreNoSimpleCommand(t *testing.T) {
	for _, run := range []string{
		"cd src && claude", "claude; true", "claude | tee log", "claude > log", "(claude)", "exec claude", "env A=1 claude", "A=1 nohup claude", "claude &",
		"true\nclaude\n", "claude # it", "claude $(cat flags)", "claude `cat flags`", "if true; then claude; fi", "claude ${MODEL:-x}", "! claude",
		"x=$(claude)y; true", "echo \"$(claude)\" y", "{ claude; }", "while true; do claude; done", "claude 'unclosed; claude", `claude \`, "A=1 claude \"x", "true;claude\\\n x;", "<in claude", "claude x\\",
	} {
		switch _, faults := bookOf(t, run, ""); {
		case strings.Contains(run, "unclosed"), strings.Contains(run, `"x`), strings.HasSuffix(run, ` \`), strings.HasPrefix(run, "(claude)"):
			// What the shell refuses in any case need not be found.
		case len(faults) != 1 || !strings.Contains(faults[0].Message, "one simple command"):
			t.Errorf("%q: %v", run, faults)
		}
	}
}

func TestFlagsOfClients(t *testing.T) {
	for flags, want := range map[string]string{
		"--session-id x":    "must not contain --session-id",
		"--session-id=x":    "must not contain --session-id",
		"--settings {}":     "must not contain --settings",
		"--resume":          `must not contain "--resume"`,
		"--resume=abc":      `must not contain "--resume"`,
		"-r abc":            `must not contain "-r"`,
		"-rabc":             `must not contain "-rabc"`,
		"--continue":        `must not contain "--continue"`,
		"-c":                `must not contain "-c"`,
		"-pc":               `must not contain "-pc"`,
		"--fork-session":    `must not contain "--fork-session"`,
		"--model x --":      "must not contain --",
		"'--'":              "must not contain --",
		"--settings-file x": "",
		"--append-system-prompt '--resume is not for you'": "",
		"--permission-mode plan -d":                        "",
	} {
		for _, launcher := range []string{"claude", "ccc kimi", "stopgate claude glm"} {
			_, faults := bookOf(t, launcher+" "+flags, "")
			if (len(faults) > 0) != (want != "") || !strings.Contains(faults.Error(), want) {
				t.Errorf("%s %s: %v", launcher, flags, faults)
			}
		}
	}
	for _, flags := range []string{"-p", "--print", "-p --model x"} {
		if book, faults := bookOf(t, "claude "+flags, ""); len(faults) > 0 || len(book.Warnings) != 1 || !strings.Contains(book.Warnings[0].Message, "takes no input") {
			t.Errorf("%s: %v, %v", flags, faults, book.Warnings)
		}
	}
}

func TestSecondPrompt(t *testing.T) {
	for run, want := range map[string]bool{
		"claude hello": true,
		"claude --dangerously-skip-permissions hello": true,
		"claude --verbose 'a b'":                      true,
		"ccc kimi hello":                              true,
		"ccc kimi":                                    false,
		"claude --model hello":                        false,
		"claude --model x hello":                      false,
		`claude "${prompt}"`:                          false,
		`claude "About ${agent}: ${prompt}"`:          false,
		`claude $FLAGS`:                               false,
		"claude ''":                                   false,
	} {
		if _, faults := bookOf(t, run, "prompt = \"x\""); (len(faults) == 1) != want {
			t.Errorf("%q: %v", run, faults)
		}
		if _, faults := bookOf(t, run, ""); len(faults) > 0 {
			t.Errorf("%q without a prompt: %v", run, faults)
		}
	}
}

func TestExec(t *testing.T) {
	for run, want := range map[string]string{
		"claude --model x":   "exec claude --model x",
		"A=1 B='c d' claude": "A=1 B='c d' exec claude",
		`"/a b/claude"`:      `exec "/a b/claude"`,
	} {
		if got := Exec(run); got != want {
			t.Errorf("%q becomes %q", run, got)
		}
	}
}

func TestLaunch(t *testing.T) {
	type launch struct {
		Set      []Assignment
		Program  string
		Launcher bool
	}
	for run, want := range map[string]launch{
		"claude --model x":               {nil, "claude", false},
		" /opt/ccc main\n":               {nil, "/opt/ccc", true},
		"stopgate claude":                {nil, "stopgate", true},
		`"/a b/claude"`:                  {nil, "/a b/claude", false},
		`/a\ b/claude`:                   {nil, "/a b/claude", false},
		"/a=b/claude":                    {nil, "/a=b/claude", false},
		"A='b c' D=$E F=~/g claude":      {[]Assignment{{"A", "b c", false}, {"D", "$E", true}, {"F", "~/g", true}}, "claude", false},
		"PATH=/opt claude":               {[]Assignment{{"PATH", "/opt", false}}, "", false},
		"MANPATH=/opt claude":            {[]Assignment{{"MANPATH", "/opt", false}}, "claude", false},
		`"$HOME/bin/ccc"`:                {nil, "", true},
		"~/bin/claude":                   {nil, "", false},
		"/opt/*/claude":                  {nil, "", false},
		"claude --append-prompt '* ~ $'": {nil, "claude", false},
		"A=1":                            {[]Assignment{{"A", "1", false}}, "", false},
		"cd x && claude":                 {nil, "", false},
		"":                               {nil, "", false},
	} {
		var got launch
		got.Set, got.Program, got.Launcher = Launch(run)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", run, diff)
		}
	}
}

func TestBudgetsAndCaps(t *testing.T) {
	book, faults := Parse("dir/x.toml", []byte(`max_agents = 2
[command.p]
run = { pipeline = "p" }
[command.a]
run = { agent = "a" }
[pipeline.p]
budget = { usd = 5, time = "2h" }
step = [{ name = "s", run = { agent = "a" } }]
[agent.a]
run = "claude"
budget = { usd = 0.25 }
expire = { after = "1h", answer = "done" }
[agent.b]
run = "claude"
budget = { usd = 1 }
expire = { after = "1h", answer = "done" }
`), noFile)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if len(book.Warnings) != 2 || !strings.Contains(book.Warnings.Error(), "no command does that") {
		t.Error(book.Warnings)
	}
	pipeline, _ := book.Plan(book.Commands["p"])
	alone, _ := book.Plan(book.Commands["a"])
	type limits struct {
		Runbook   string
		MaxAgents int
		Budget    Budget
		Expire    Expire
	}
	of := func(p Plan) limits { return limits{p.Runbook, p.MaxAgents, p.Pipeline.Budget, p.Pipeline.Expire} }
	want := []limits{
		{"x.toml", 2, Budget{USD: 5, Time: 2 * 3600e9}, Expire{}},
		{"x.toml", 2, Budget{USD: 0.25}, Expire{After: 3600e9, Answer: DefaultDone}},
	}
	if diff := cmp.Diff(want, []limits{of(pipeline), of(alone)}); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A runbook is called by its path: two may have the same base name.
func TestRunbooksAreCalledByTheirPaths(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	for _, name := range []string{"x.toml", "sub/x.toml"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte("max_agents = 1\n"), 0o600))
	}
	set, err := Load(dir)
	if err != nil || len(set.Runbooks) != 2 || set.Runbooks[0].Name != "sub/x.toml" || set.Runbooks[1].Name != "x.toml" {
		t.Errorf("%+v, %v", set.Runbooks, err)
	}
}
