package runbook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/racetest"
)

// The matrix of actions and triggers, in both forms.
func TestActionsOfTriggers(t *testing.T) {
	for trigger, allowed := range map[Trigger]string{
		OnIdle:   "nudge done fail escalate gate",
		OnDead:   "done fail resume escalate gate",
		OnPrompt: "done fail escalate gate",
		OnError:  "fail resume escalate gate",
	} {
		for _, kind := range Actions() {
			object := fmt.Sprintf(`%s = { action = %q }`, trigger, kind)
			if kind == Gate {
				object = fmt.Sprintf(`%s = { action = %q, run = "true" }`, trigger, kind)
			}
			want := strings.Contains(allowed, string(kind))
			inBothFormats(t, func(t *testing.T, format string) {
				_, faults := agentOf(t, format, object)
				if (len(faults) == 0) != want {
					t.Errorf("%s: want %v, got %v", object, want, faults)
				}
				_, faults = agentOf(t, format, fmt.Sprintf("%s = %q", trigger, kind))
				if (len(faults) == 0) != (want && kind != Gate) {
					t.Errorf("%s = %q: %v", trigger, kind, faults)
				}
			})
		}
	}
}

func TestActionDefaults(t *testing.T) {
	agent, faults := agentOf(t, "toml", `on_idle = "nudge"`)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	escalate := Action{Kind: Escalate, Attempts: 1}
	want := Agent{Name: "a", Run: "claude", ClaudeCode: true, OnIdle: Action{Kind: Nudge, Attempts: 1}, OnDead: escalate, OnPrompt: escalate}
	if diff := cmp.Diff(want, agent); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What an agent says for all of its actions is overruled by the action itself, and is
// nothing to actions that happen once.
func TestAttemptsOfTheAgent(t *testing.T) {
	agent, faults := agentOf(t, "toml", `
attempts = "forever"
cooldown = "1m"
on_idle = { action = "nudge", attempts = 2 }
on_dead = { action = "resume", cooldown = "5s" }
on_error = [{ match = "other", action = "resume" }, { action = "fail" }]
`)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got := []Action{agent.OnIdle, agent.OnDead, agent.OnPrompt, agent.OnError[0].Action, agent.OnError[1].Action}
	want := []Action{
		{Kind: Nudge, Attempts: 2, Cooldown: time.Minute},
		{Kind: Resume, Attempts: Forever, Cooldown: 5 * time.Second},
		{Kind: Escalate, Attempts: 1},
		{Kind: Resume, Attempts: Forever, Cooldown: time.Minute},
		{Kind: Fail, Attempts: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"[agent.a]\nrun = \"x\"\non_stop = \"idle\"\n", `x.toml:3:1: on_stop = "idle" with on_idle = "escalate" says the same as on_stop = "escalate"`},
		{"[agent.a]\nrun = \"x\"\non_stop = \"idle\"\non_idle = \"done\"\n", ""},
		{"[agent.a]\nrun = \"x\"\non_idle = { action = \"nudge\", cooldown = \"1m\" }\n", "x.toml:3:31: cooldown has no effect: there is only one attempt"},
		{"[agent.a]\nrun = 'x \"${var.y}\" \\\" \"${prompt}\" # ${step}'\n", ""},
		{"[agent.a]\nrun = 'x \"$(y \"${var.y}\")\"'\n", ""},
		{"[agent.a]\nrun = 'x ${step} ${HOME}'\n", ""},
		{"[agent.a]\nrun = 'name=x; echo ${name}'\n", "x.toml:2:21: ${name} is a template: it does not see the value that the script assigns to name"},
		{"[agent.a]\nrun = 'for step in a b; do echo ${step}; done'\n", "x.toml:2:33: ${step} is a template: it does not see the value that the script assigns to step"},
		{"[agent.a]\nrun = 'name=x; echo $name ${step}'\n", ""},
		{"[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"x\"\n", `x.toml:1:11: no command runs pipeline "p"`},
	} {
		book, faults := Parse("x.toml", []byte(test.text), noFile)
		if len(faults) > 0 || book.Warnings.Error() != test.want {
			t.Errorf("%s\nwant %s\ngot %v, %v", test.text, test.want, book.Warnings, faults)
		}
	}
}

// pipelineOf is a runbook with one pipeline.
func pipelineOf(fields string, steps ...string) string {
	text := "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n" + fields + "\n"
	for _, s := range steps {
		name, rest, _ := strings.Cut(s, " ")
		text += "[[pipeline.p.step]]\nname = \"" + name + "\"\nrun = \"true\"\n" + rest + "\n"
	}
	return text
}

func TestReach(t *testing.T) {
	const never = "is never reached"
	for _, test := range []struct {
		name, text string
		want       []string // of the faults, in part
	}{
		{"one step", pipelineOf("", "a"), nil},
		{"a chain", pipelineOf("", `a on_done = "b"`, "b"), nil},
		{"no transition", pipelineOf("", "a", "b"), []string{`step "b" ` + never}},
		{"one fault for what only it leads to", pipelineOf("", "a", `b on_done = "c"`, "c"), []string{`step "b" ` + never}},
		{"by failure", pipelineOf("", `a on_fail = "b"`, "b"), nil},
		{"by cancel", pipelineOf("", `a on_cancel = { step = "b" }`, "b"), nil},
		{"by the pipeline", pipelineOf(`on_done = "b"`+"\n"+`on_fail = "c"`, "a", "b", "c"), nil},
		{"backwards", pipelineOf("", `a on_done = "c"`, "b", `c on_done = "b"`), nil},
		{"itself only", pipelineOf("", "a", `b on_done = "b"`), []string{`step "b" ` + never}},
	} {
		_, faults := Parse("x.toml", []byte(test.text), noFile)
		var got []string
		for _, f := range faults {
			got = append(got, f.Message)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
	_, faults := Parse("x.toml", []byte(pipelineOf("", "a", "b")), noFile)
	if want := `add on_done = "b" to step "a"`; !strings.Contains(faults[0].Hint, want) {
		t.Errorf("the hint is %q", faults[0].Hint)
	}
}

func TestVariablesNeedValues(t *testing.T) {
	const use = "\n[[pipeline.p.step]]\nname = \"a\"\nrun = 'echo \"${var.x}\"'\n"
	for _, test := range []struct {
		name, text string
		sound      bool
	}{
		{"argument", "[command.c]\nargs = \"<x>\"\nrun = { pipeline = \"p\" }\n[pipeline.p]" + use, true},
		{"option", "[command.c]\nargs = \"[--x <y>]\"\nrun = { pipeline = \"p\" }\n[pipeline.p]" + use, true},
		{"the command's default", "[command.c]\ndefaults = { x = \"1\" }\nrun = { pipeline = \"p\" }\n[pipeline.p]" + use, true},
		{"the pipeline's default", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\ndefaults = { x = \"\" }" + use, true},
		{"nobody", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]" + use, false},
		{"declared, but nobody gives it", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\nvars = [\"x\"]" + use, false},
		{"one of two commands", "[command.c]\nargs = \"<x>\"\nrun = { pipeline = \"p\" }\n[command.d]\nrun = { pipeline = \"p\" }\n[pipeline.p]" + use, false},
		{"no command", "[pipeline.p]" + use, true},
		{"an agent of the pipeline", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"x\"\nprompt = \"${var.x}\"", false},
		{"an agent alone", "[command.c]\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"x\"\non_idle = { action = \"nudge\", message = \"${var.x}\" }", false},
		{"somebody else's agent", "[command.c]\nrun = \"true\"\n[agent.a]\nrun = \"x\"\nprompt = \"${var.x}\"", true},
		{"a shell command", "[command.c]\nargs = \"<y>\"\nrun = \"echo ${var.x}\"", false},
		{"the shell's own", "[command.c]\nrun = \"echo ${HOME} ${x:-y} ${#a} ${a%.b}\"", true},
		{"words with dots for people", "[command.c]\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"x\"\nprompt = \"${foo.bar}\"", true},
		{"words with dots for a shell", "[command.c]\nrun = \"echo ${foo.bar}\"", false},
	} {
		_, faults := Parse("x.toml", []byte(test.text), noFile)
		if (len(faults) == 0) != test.sound {
			t.Errorf("%s: %v", test.name, faults)
		}
	}
}

func TestPromptFiles(t *testing.T) {
	read := func(name string) ([]byte, error) {
		switch name {
		case "a.md":
			return []byte("Do ${var.x}."), nil
		case "nul.md":
			return []byte("a\x00b"), nil
		case "latin.md":
			return []byte("\xe9"), nil
		case "long.md":
			return []byte(strings.Repeat("x", maxText+1)), nil
		}
		return noFile(name)
	}
	for name, want := range map[string]string{
		"a.md": "", "none.md": "does not exist", "nul.md": "contains a NUL byte", "latin.md": "is not UTF-8", "long.md": "is longer than 100 KiB",
		"../a.md": "below the runbooks directory", "/a.md": "below the runbooks directory", "x/../a.md": "below the runbooks directory",
		`x\a.md`: "below the runbooks directory", ".": "does not exist", "./a.md": "below the runbooks directory",
	} {
		text := "[command.c]\nargs = \"<x>\"\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"y\"\nprompt_file = '" + name + "'\n"
		book, faults := Parse("x.toml", []byte(text), read)
		switch {
		case want == "":
			if len(faults) > 0 || book.Agents["a"].Prompt != "Do ${var.x}." {
				t.Errorf("%q: %v", name, faults)
			}
		case len(faults) != 1 || !strings.Contains(faults[0].Message, want):
			t.Errorf("%q: want %s, got %v", name, want, faults)
		}
	}
	// What the file uses is looked at as well.
	_, faults := Parse("x.toml", []byte("[command.c]\nrun = { agent = \"a\" }\n[agent.a]\nrun = \"y\"\nprompt_file = 'a.md'\n"), read)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, "${var.x} (in a.md) has no value") {
		t.Errorf("%v", faults)
	}
}

// A plan is complete in itself, and the same after it was stored.
func TestPlan(t *testing.T) {
	book := sound(t).Runbooks[0]
	for name, want := range map[string]struct {
		standalone bool
		pipeline   string
		steps      int
		agents     int
	}{
		"build": {false, "build", 4, 1},
		"lint":  {false, "lint", 1, 0},
		"look":  {true, "worker", 1, 1},
	} {
		plan, standalone := book.Plan(book.Commands[name])
		if standalone != want.standalone || plan.Pipeline.Name != want.pipeline || len(plan.Pipeline.Steps) != want.steps || len(plan.Agents) != want.agents {
			t.Errorf("%s: %v %+v", name, standalone, plan)
		}
		text, err := json.Marshal(plan)
		check(t, err)
		var back Plan
		check(t, json.Unmarshal(text, &back))
		if diff := cmp.Diff(plan, back); diff != "" {
			t.Errorf("%s: -plan +stored\n%s", name, diff)
		}
	}
}

func TestVars(t *testing.T) {
	book := sound(t).Runbooks[0]
	for _, test := range []struct {
		command string
		args    []string
		want    map[string]string
	}{
		{"build", []string{"x"}, map[string]string{"branch": "x", "base": "main", "force": "false", "files": "", "topic": "the branch"}},
		{"build", []string{"-f", "x", "--base=y", "a", "b"}, map[string]string{"branch": "x", "base": "y", "force": "true", "files": "a b", "topic": "the branch"}},
		{"look", []string{""}, map[string]string{"branch": "main", "topic": ""}},
		{"lint", nil, map[string]string{}},
	} {
		got, err := book.Vars(book.Commands[test.command], test.args)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s %q: %v (-want +got)\n%s", test.command, test.args, err, diff)
		}
	}
	if _, err := book.Vars(book.Commands["build"], nil); err == nil {
		t.Error("branch is not missed")
	}
	// What has a default need not be given.
	c := Command{Args: ArgSpec{[]Arg{{Name: "x", Required: true}}}, Defaults: map[string]string{"x": "1"}}
	if got, err := (Runbook{}).Vars(c, nil); err != nil || got["x"] != "1" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestLimits(t *testing.T) {
	racetest.Skip(t)
	long := strings.Repeat("x", maxText)
	agents, steps := "", ""
	for i := range 3 {
		agents += fmt.Sprintf("[agent.a%d]\nrun = \"y\"\nprompt = \"%s\"\n", i, long)
		steps += fmt.Sprintf("[[pipeline.p.step]]\nname = \"s%d\"\nrun = { agent = \"a%d\" }\non_done = \"s%d\"\n", i, i, (i+1)%3)
	}
	for _, test := range []struct{ name, text, want string }{
		{"x.toml", "[command.c]\nrun = { pipeline = \"p\" }\n[pipeline.p]\n" + steps + agents, "x.toml:1:10: the plan of command \"c\" has 400 KiB"},
		{"x.toml", "[agent.a]\nrun = \"" + long + "y\"\n", "x.toml:2:7: run is longer than 100 KiB"},
		{"x.toml", "#" + strings.Repeat("x", maxFile), "x.toml: is larger than 1 MiB"},
		{"x.toml", "#\xff", "x.toml: is not UTF-8"},
		{"x.toml", "[agent.a]\nrun = \"a\\u0000b\"\n", "x.toml:2:7: run contains a NUL byte"},
		{"x.yaml", "", "x.yaml: is not a runbook"},
		{"x.hcl", "a = " + strings.Repeat("[", 1000), "x.hcl:1:105: nested more than 100 deep"},
		{"x.hcl", "a = " + strings.Repeat("!", 100_000) + "true", "x.hcl:1:5: a value must be a literal"},
		{"x.hcl", "a = " + strings.Repeat("-", 100_000) + "1", "x.hcl:1:6: a value must be a literal"},
		{"x.hcl", "a = " + strings.Repeat("x ? x : ", 10_000) + "1", "x.hcl:1:7: a value must be a literal"},
		{"x.hcl", "a = <<E\n" + strings.Repeat("x\n", 100_000) + "E\n", "x.hcl:5002:1: heredocs have more than 5000 lines"},
		{"x.hcl", "a = \"" + strings.Repeat("%{if a}", 140_000) + "\"\n", "x.hcl:1:706: %{ is not supported"},
		{"x.hcl", "a = \"" + strings.Repeat("$", 1_000_000) + "\"\n", "x.hcl:1:1006: there are too many $ and % between quotes"},
		{"x.hcl", strings.Repeat("a = \""+strings.Repeat("$", 900)+"\"\n", 1000), "x.hcl:56:506: there are too many $ and % between quotes"},
		{"x.hcl", "a = \"" + strings.Repeat(`$$$$$$$${""}`, 80_000) + "\"\n", "x.hcl:1:"},
		{"x.hcl", "a = [" + strings.Repeat("1,", 20_000) + "]\n", "x.hcl: is too large: more than 10000 fields and values"},
		{"x.toml", "a = [" + strings.Repeat("1,", 20_000) + "]\n", "x.toml: is too large: more than 10000 fields and values"},
		{"x.toml", "a = " + strings.Repeat("[", 100_000), "x.toml:1:10005: arrays and inline tables are nested"},
		{"x.toml", strings.Repeat("a.", 100_000) + "a = 1", "x.toml:1:1: nested more than 100 deep"},
	} {
		_, faults := Parse(test.name, []byte(test.text), noFile)
		if len(faults) == 0 || !strings.HasPrefix(faults.Error(), test.want) {
			t.Errorf("want %s, got %.200v", test.want, faults)
		}
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "x%d = 1\n", i)
	}
	_, faults := Parse("x.toml", []byte(many.String()), noFile)
	const maxFaults = 100
	if len(faults) != maxFaults+1 || faults[maxFaults].Message != "more than 100 errors, the rest is not shown" {
		t.Errorf("%d faults, the last: %v", len(faults), faults[len(faults)-1])
	}
}

// Syntax errors of both formats have their places, whatever stands before them.
func TestSyntax(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"x.toml", "é = 1\né = 2\n", "x.toml:1:1"},
		{"x.toml", "\"é\" = 1\r\n\"é\" = 2\r\n", "x.toml:2:1: key é is already defined"},
		{"x.toml", "[agent.a]\nrun = \"日本\" x\n", "x.toml:2:12"},
		{"x.toml", "[agent.a]\n[agent.a]\n", "x.toml:2:2: table"},
		{"x.hcl", "agent \"é\" {\n run = \"日本\" x\n}\n", "x.hcl:2:13"},
		{"x.hcl", "agent \"a\" {\n", "x.hcl:1:11"},
		{"x.hcl", "\ufeffagent \"a\" {\n  run = \"x\"\n  run = \"y\"\n}", "x.hcl:3:3"},
	} {
		_, faults := Parse(test.name, []byte(test.text), noFile)
		if len(faults) == 0 || !strings.HasPrefix(faults.Error(), test.want) {
			t.Errorf("%q: want %s, got %v", test.text, test.want, faults)
		}
	}
}

// Scripts keep their lines, and have no carriage returns.
func TestScriptsWithCarriageReturns(t *testing.T) {
	for name, text := range map[string]string{
		"x.toml": "[command.c]\r\nrun = \"\"\"\r\na\r\nb\r\n\"\"\"\r\n",
		"x.hcl":  "command \"c\" {\r\n  run = <<E\r\na\r\nb\r\nE\r\n}\r\n",
	} {
		book, faults := Parse(name, []byte(text), noFile)
		if len(faults) > 0 || book.Commands["c"].Run.Shell != "a\nb\n" {
			t.Errorf("%s: %q, %v", name, book.Commands["c"].Run.Shell, faults)
		}
	}
}

// What HCL would make of ${ } does not happen.
func TestTemplatesInHCL(t *testing.T) {
	for written, want := range map[string]string{
		`"${var.x}"`:                    "${var.x}",
		`"a ${ var.x } b"`:              "a ${var.x} b",
		`"${a}${b}"`:                    "${a}${b}",
		`"$${x:-1} %%{y} ${1} $"`:       "${x:-1} %{y} ${1} $",
		`"${true}"`:                     "${true}",
		`"a\tb\"${c}\"\\"`:              "a\tb\"${c}\"\\",
		`"${var.dry-run}"`:              "${var.dry-run}",
		"<<E\n${a}\n  b ${c.d}\nE\n":    "${a}\n  b ${c.d}\n",
		"<<-E\n   ${a}\n     b\n   E\n": "${a}\n  b\n",
	} {
		// Only as an agent's prompt: a shell's names are checked.
		book, faults := Parse("x.hcl", []byte("agent \"a\" {\n run = \"x\"\n prompt = "+written+"\n}\n"), noFile)
		if len(faults) > 0 || book.Agents["a"].Prompt != want {
			t.Errorf("%s: %q, %v", written, book.Agents["a"].Prompt, faults)
		}
	}
}

// A variable that a pipeline has and no command gives is a mistake, also where no template
// names it.
func TestVarsThatNobodyGives(t *testing.T) {
	for _, test := range []struct{ args, vars, want string }{
		{"", `vars = ["x"]`, `x.toml:4:9: no command gives variable "x" of pipeline "p" a value, and it has no default`},
		{`args = "<x>"`, `vars = ["x"]`, ""},
		{`defaults = { x = "1" }`, `vars = ["x"]`, ""},
		{"", "vars = [\"x\"]\ndefaults = { x = \"\" }", ""},
	} {
		text := strings.Replace(pipelineOf(test.vars, "a"), "run = { pip", test.args+"\nrun = { pip", 1)
		_, faults := Parse("x.toml", []byte(strings.Replace(text, "\n\n", "\n", 1)), noFile)
		if faults.Error() != test.want {
			t.Errorf("%s\nwant %s\ngot %v", text, test.want, faults)
		}
	}
}

// Nothing in a file, nor its name, steers the terminal of whoever reads what is wrong.
func TestFaultsArePlain(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[31mred\u202e"
	for name, text := range map[string]string{
		evil + ".toml": "x = 1",
		"a.toml":       "[agent." + `"` + strings.ReplaceAll(evil, "\x1b", `\u001b`) + "\"]\nrun = 'x'\n",
		"b.toml":       "[command.c]\nargs = '<a>" + evil + "'\nrun = 'x'\n",
		"c.hcl":        "a = \"${" + evil + "}\"",
		"d.hcl":        "command \"c\" {\n" + evil + " = 1\n}",
		evil + ".hcl":  "a = \"",
		evil:           "",
	} {
		_, faults := Parse(name, []byte(text), noFile)
		if shown := faults.Error() + faults.Detail(); len(faults) == 0 || strings.ContainsAny(shown, "\x1b\x07\u202e\u009b") {
			t.Errorf("%q: %q", name, shown)
		}
	}
	if _, err := Load(evil + "/" + strings.Repeat("x", 5000)); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}

// Numbers are written as people write them.
func TestWholeNumbers(t *testing.T) {
	for number, ok := range map[string]bool{"16": true, "1_000": true, "0x10": false, "0b11": false, "0o17": false, "0": false} {
		if _, faults := agentOf(t, "toml", "max_concurrency = "+number); (len(faults) == 0) != ok {
			t.Errorf("%s: %v", number, faults)
		}
	}
}

// What cannot be stored is found before anything runs.
func TestSizes(t *testing.T) {
	agent := func(name, run string, kib int) string {
		return "[agent." + name + "]\nrun = '" + run + "'\nprompt = '" + strings.Repeat("x", kib<<10) + "'\n"
	}
	for _, test := range []struct{ name, agents, want string }{
		{"one large prompt", agent("a", "claude", 95) + agent("b", "claude", 1), ""},
		{"two", agent("a", "claude", 95) + agent("b", "claude", 95), "has 285 KiB with all prompts"},
		{"in the command too", agent("a", `claude "${prompt}"`, 95) + agent("b", "claude", 1), `step "a" of command "c" has 190 KiB`},
		{"small ones", agent("a", "claude", 50) + agent("b", "claude", 50), ""},
	} {
		text := "[command.c]\nrun = { pipeline = 'p' }\n[pipeline.p]\n[[pipeline.p.step]]\nname = 'a'\nrun = { agent = 'a' }\non_done = 'b'\n[[pipeline.p.step]]\nname = 'b'\nrun = { agent = 'b' }\n"
		_, faults := Parse("x.toml", []byte(text+test.agents), noFile)
		if (len(faults) == 0) != (test.want == "") || !strings.Contains(faults.Error(), test.want) {
			t.Errorf("%s: %.300v", test.name, faults)
		}
	}
}
