package runbook

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	published "github.com/stopgate/stopgate/internal/project/schema"
)

func TestCommittedSchemaIsWhatTheGeneratorWrites(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./schemagen", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fresh, err := os.ReadFile(filepath.Join(dir, "runbook.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(fresh), string(published.Runbook())); diff != "" {
		t.Errorf("run go generate ./internal/control/runbook (-fresh +committed)\n%s", diff)
	}
}

// forEditors is the schema that editors are given.
var forEditors = sync.OnceValues(func() (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(published.Runbook()))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("runbook.json", document); err != nil {
		return nil, err
	}
	return compiler.Compile("runbook.json")
})

// accepts reports whether an editor that has the schema accepts a runbook.
func accepts(t testing.TB, text string) bool {
	t.Helper()
	compiled, err := forEditors()
	check(t, err)
	var content map[string]any
	if err := toml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	asJSON, err := json.Marshal(content)
	check(t, err)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	check(t, err)
	return compiled.Validate(instance) == nil
}

// A runbook is valid to an editor that has the schema exactly when it is valid to us; what
// one part says about another, a schema cannot know.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	const agent = "[agent.a]\nrun = \"x\"\n"
	for text, want := range map[string]bool{
		"":                                      true,
		"x = 1":                                 false,
		"[command.c]\nrun = \"x\"":              true,
		"[command.c]":                           false,
		"[command.c]\nrun = \" \"":              false,
		"[command.c]\nrun = 1":                  false,
		"[command.c]\nrun = {}":                 false,
		"[command.\"a b\"]\nrun = \"x\"":        false,
		"[command.c]\nrun = \"x\"\nargs = \"\"": true,
		"[command.c]\nrun = \"x\"\ndefaults = { a = \"\" }": true,
		"[command.c]\nrun = \"x\"\ndefaults = { a = 1 }":    false,
		"[pipeline.p]":            false,
		"[pipeline.p]\nstep = []": false,
		"[pipeline.p]\nstep = [{ name = \"a\", run = \"x\" }]":                               true,
		"[pipeline.p]\nstep = [{ name = \"done\", run = \"x\" }]":                            false,
		"[pipeline.p]\nstep = [{ name = \"a\" }]":                                            false,
		"[pipeline.p]\nstep = [{ name = \"a\", run = { pipeline = \"p\" } }]":                false,
		"[pipeline.p]\non_done = 1\nstep = [{ name = \"a\", run = \"x\" }]":                  false,
		"[pipeline.p]\nvars = [\"a\", \"a\"]\nstep = [{ name = \"a\", run = \"x\" }]":        false,
		"[pipeline.p]\nnotify = { on_end = \"x\" }\nstep = [{ name = \"a\", run = \"x\" }]":  false,
		"[pipeline.p]\non_fail = \"a\"\ncwd = \"y\"\nstep = [{ name = \"a\", run = \"x\" }]": true,
		"[pipeline.p]\nstep = [{ name = \"a\", run = \"x\", on_fail = { step = \"a\" } }]":   true,
		agent: true,
		agent + "prompt = \"x\"\nprompt_file = \"y\"":                                   false,
		agent + "env = { A = \"\" }":                                                    true,
		agent + "env = { OJ_X = \"\" }":                                                 false,
		agent + "env = { 1A = \"\" }":                                                   false,
		agent + "max_concurrency = 0":                                                   false,
		agent + "max_concurrency = 1":                                                   true,
		agent + "on_idle = \"nudge\"":                                                   true,
		agent + "on_idle = \"resume\"":                                                  false,
		agent + "on_idle = \"gate\"":                                                    false,
		agent + "on_idle = { action = \"gate\" }":                                       false,
		agent + "on_idle = { action = \"gate\", run = \"x\", attempts = 2 }":            true,
		agent + "on_idle = { action = \"nudge\", attempts = 0 }":                        false,
		agent + "on_idle = { action = \"nudge\", attempts = \"forever\" }":              true,
		agent + "on_idle = { action = \"nudge\", attempts = \"always\" }":               false,
		agent + "on_idle = { action = \"nudge\", cooldown = \"5 m\" }":                  false,
		agent + "on_idle = { action = \"done\", message = \"x\" }":                      false,
		agent + "on_idle = { action = \"nudge\", append = true }":                       false,
		agent + "on_dead = { action = \"resume\", append = true, cooldown = \"1h5m\" }": true,
		agent + "on_prompt = { match = \"other\", action = \"done\" }":                  false,
		agent + "on_error = { match = \"other\", action = \"fail\" }":                   true,
		agent + "on_error = [{ match = \"x\", action = \"fail\" }]":                     false,
		agent + "on_error = [\"fail\"]":                                                 true,
		agent + "on_error = []":                                                         true,
		agent + "on_error = \"done\"":                                                   false,
		agent + "on_stop = \"signal\"":                                                  true,
		agent + "on_stop = { action = \"idle\" }":                                       true,
		agent + "on_stop = \"nudge\"":                                                   false,
		agent + "on_stop = { action = \"done\" }":                                       false,
		agent + "on_stop = {}":                                                          false,
		agent + "budget = { usd = 0.5, time = \"2h\" }":                                 true,
		agent + "budget = { usd = 5 }":                                                  true,
		agent + "budget = {}":                                                           false,
		agent + "budget = 5":                                                            false,
		agent + "budget = { usd = 0 }":                                                  false,
		agent + "budget = { usd = \"5\" }":                                              false,
		agent + "budget = { usd = -1.5 }":                                               false,
		agent + "budget = { usd = 1000001 }":                                            false,
		agent + "budget = { time = 2 }":                                                 false,
		agent + "budget = { eur = 2 }":                                                  false,
		agent + "expire = { after = \"4h\", answer = \"go_on\" }":                       true,
		agent + "expire = { after = \"4h\", answer = \"fail\" }":                        false,
		agent + "expire = { after = \"4h\" }":                                           false,
		agent + "expire = { answer = \"done\" }":                                        false,
		agent + "expire = \"4h\"":                                                       false,
		"[pipeline.p]\nworkspace = { git = \"worktree\" }\nstep = [{ name = \"a\", run = \"x\", cwd = \"y\" }]": true,
		"[pipeline.p]\nworkspace = \"folder\"\nstep = [{ name = \"a\", run = \"x\" }]":                          false,
		"[pipeline.p]\nstep = [{ name = \"a\", run = \"x\", cwd = \" \" }]":                                     false,
		agent + "workspace = { git = \"worktree\", branch = \"a/${var.x}\", base = \"b\", keep = \"never\" }":   true,
		agent + "workspace = { folder = \"copy\", keep = \"always\" }":                                          true,
		agent + "workspace = { folder = \"empty\" }":                                                            true,
		agent + "workspace = { folder = \"copy\", branch = \"b\" }":                                             false,
		agent + "workspace = { folder = \"link\" }":                                                             false,
		agent + "workspace = { git = \"clone\" }":                                                               false,
		agent + "workspace = { git = \"worktree\", folder = \"copy\" }":                                         false,
		agent + "workspace = { git = \"worktree\", keep = \"maybe\" }":                                          false,
		agent + "workspace = { branch = \"b\" }":                                                                false,
		agent + "workspace = {}":                                                                                false,
		"[locals]\na = \"${name}\"\n[command.c]\nrun = 'echo \"${local.a}\"'":                                   true,
		"[locals]\na = 1":           false,
		"[locals]\n\"a b\" = \"x\"": false,
		"[const.a]\ndefault = 1\n[command.c]\nrun = \"echo ${const.a}\"": true,
		"const = { n = 2, t = \"1m\", w = \"done\" }\n[agent.a]\nrun = \"x\"\non_idle = { action = \"nudge\", attempts = \"${const.n}\", cooldown = \"${const.t}\" }\non_dead = \"${const.w}\"": true,
		"const = { n = 2 }\n[agent.a]\nrun = \"x\"\nmax_concurrency = \"${const.n}\"\nbudget = { usd = \"${const.n}\" }":                                                                        true,
		"const = { n = 2 }\nmax_agents = \"${const.n}\"":               true,
		"[const.a]\ndefault = [1]":                                     false,
		"[const.a]\ndescription = \"x\"\n":                             true,
		"[const.a]\nvalue = \"x\"\n":                                   false,
		"const = \"x\"":                                                false,
		"[[import]]\nlibrary = \"wait\"\nconst = { until = \"true\" }": true,
		"[[import]]\nlibrary = \"wait\"\nconst = { until = { value = \"true\" }, tries = 2 }": true,
		"[[import]]\nlibrary = \"wait\"\nconst = { until = [\"true\"] }":                      false,
		"[[import]]\nlibrary = \"wiat\"\nconst = { until = \"true\" }":                        false,
		"[[import]]\nlibrary = \"wait\"\nfile = \"x.toml\"":                                   false,
		"[[import]]\nalias = \"x\"":                                                           false,
		"[import]\nlibrary = \"wait\"":                                                        false,
		"[[import]]\nlibrary = \"wait\"\nalias = \"a b\"\nconst = { until = \"true\" }":       false,
		"max_agents = 3":     true,
		"max_agents = 0":     false,
		"max_agents = \"3\"": false,
		"[pipeline.p]\nbudget = { usd = 1 }\nexpire = { after = \"1s\", answer = \"cancel\" }\nstep = [{ name = \"a\", run = \"x\" }]": true,
	} {
		_, faults := Parse("x.toml", []byte(text), noFile)
		if decoded, accepted := len(faults) == 0, accepts(t, text); decoded != want || accepted != want {
			t.Errorf("want %v, decoder %v, schema %v:\n%s\n%v", want, decoded, accepted, text, faults)
		}
	}
	full, err := os.ReadFile("testdata/sound/build.toml")
	if err != nil || !accepts(t, string(full)) {
		t.Errorf("the schema refuses build.toml, %v", err)
	}
}

// Each table has the same fields in the schema as in the decoder, which lists its fields
// when it meets one that it does not know.
func TestSchemaHasTheDecodersFields(t *testing.T) {
	var document map[string]any
	if err := json.Unmarshal(published.Runbook(), &document); err != nil {
		t.Fatal(err)
	}
	defs := document["$defs"].(map[string]any)
	const stranger = "xyzzyxyzzyxyzzy = 1\n"
	for _, test := range []struct {
		text  string
		table any
	}{
		{stranger, document},
		{"[command.c]\nrun = \"x\"\n" + stranger, defs["command"]},
		{"[pipeline.p]\n" + stranger + "step = [{ name = \"a\", run = \"x\" }]\n", defs["pipeline"]},
		{"[pipeline.p]\n[[pipeline.p.step]]\nname = \"a\"\nrun = \"x\"\n" + stranger, defs["step"]},
		{"[agent.a]\nrun = \"x\"\n" + stranger, defs["agent"]},
		{"[const.c]\n" + stranger, defs["const"]},
		{"[[import]]\nlibrary = \"wait\"\nconst = { until = \"true\" }\n" + stranger, defs["import"]},
		{"[agent.a]\nrun = \"x\"\n[agent.a.notify]\n" + stranger, defs["notify"]},
		{"[agent.a]\nrun = \"x\"\n[agent.a.budget]\nusd = 1\n" + stranger, defs["budget"]},
		{"[agent.a]\nrun = \"x\"\n[agent.a.expire]\nafter = \"1s\"\nanswer = \"done\"\n" + stranger, defs["expire"]},
	} {
		_, faults := Parse("x.toml", []byte(test.text), noFile)
		if len(faults) != 1 {
			t.Errorf("%s: %v", test.text, faults)
			continue
		}
		want := strings.Split(strings.TrimPrefix(faults[0].Hint, "valid fields: "), ", ")
		slices.Sort(want)
		fields := test.table.(map[string]any)["properties"].(map[string]any)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fields))); diff != "" {
			t.Errorf("%s (-decoder +schema)\n%s", test.text, diff)
		}
	}
}
