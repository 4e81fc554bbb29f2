package conformance

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Whoever runs a command hears why it did not do what it should.
func TestHole18RunTellsItsErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string
		args   []string
		code   int
		words  []string
	}{
		"an invalid config": {"no_such_key: 1\n", nil, 2, []string{"no_such_key", "config.yml"}},
		"a lock":            {theCheck, []string{"LOCK"}, 3, []string{"already in progress"}},
		"no such base":      {theCheck, []string{"--base-branch", "no-such-branch"}, 2, []string{"no-such-branch"}},
		"no such gate":      {theCheck, []string{"--gate", "no-such-gate"}, 2, []string{"no-such-gate"}},
		"no such flag":      {theCheck, []string{"--no-such-flag"}, 2, []string{"no-such-flag"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, tt.config)
			if len(tt.args) > 0 && tt.args[0] == "LOCK" {
				defer g.hold()()
				tt.args = nil
			}
			r := g.call(nil, append([]string{"run"}, tt.args...)...)
			if r.code != tt.code {
				t.Errorf("exit %d, want %d", r.code, tt.code)
			}
			contains(t, r.stderr+r.stdout, tt.words...)
		})
	}
}

func TestHole18GatesThatWereNotStartedAreNamed(t *testing.T) {
	g := newGated(t, `base_branch: main
entry_points:
  - path: .
    checks:
      - {name: first, command: 'false', fail_fast: true}
      - {name: second, command: 'true'}
`)
	a := g.stop()
	a.is(t, "failed")
	contains(t, slurp(t, g.log("console.1.log")), "[SKIP]  check:.:second", "check:.:first failed and has fail_fast", "1 not started")
}

// A file directly in the parent of a wildcard is no entry point, and a pattern has
// no folder of its own.
func TestHole18WhereAWildcardsCheckRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, file, status, dir string
	}{
		"a folder in the parent": {"packages/*", "packages/a/src/x", "passed", "packages/a"},
		"a file in the parent":   {"packages/*", "packages/README.md", "no_applicable_gates", ""},
		"a pattern":              {"src/**/*.ts", "src/deep/x.ts", "passed", ""},
		"a file":                 {"src/main.ts", "src/main.ts", "passed", "src"},
		"a name with brackets":   {"app/*", "app/[id]/page.ts", "passed", "app/[id]"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, strings.ReplaceAll(strings.Replace(theCheck, "path: .", "path: '"+tt.path+"'", 1), "test ! -e bad", `pwd > "$RUNS.pwd"`))
			g.remove("work.txt")
			g.write(tt.file, "")
			g.stop().is(t, tt.status)
			want := ""
			if tt.status == "passed" {
				want = filepath.Join(g.root, tt.dir)
			}
			if got := strings.TrimSpace(slurp(t, g.beside("runs.pwd"))); got != want {
				t.Errorf("it ran in %q, want %q", got, want)
			}
		})
	}
}

// A reviewer of a folder sees what changed in it, whatever the folder is called.
func TestHole15AReviewSeesAFolderWithBrackets(t *testing.T) {
	g := newGated(t, strings.Replace(reviewed, "path: .", "path: app/*", 1))
	g.reviewer("claude", reviewFails)
	g.write("app/[id]/page.ts", "the change\n")
	g.stop().is(t, "failed")
	contains(t, slurp(t, g.beside("claude.prompt")), "the change")
}

// Of six gates that could all run at once no more than two do. Each looks busy for
// a while, so that more would meet.
func TestHole19NoMoreAtOnceThanAllowed(t *testing.T) {
	var config strings.Builder
	config.WriteString("base_branch: main\nmax_parallel: 2\nentry_points:\n  - path: .\n    checks:\n")
	for i := range 6 {
		config.WriteString("      - {name: c" + strconv.Itoa(i) + `, parallel: true, command: 'echo 1 >> "$RUNS"; sleep 0.1; echo -1 >> "$RUNS"'}` + "\n")
	}
	g := newGated(t, config.String())
	g.stop().is(t, "passed")
	running, most := 0, 0
	for _, step := range strings.Fields(slurp(t, g.beside("runs"))) {
		n, err := strconv.Atoi(step)
		check(t, err)
		running += n
		most = max(most, running)
	}
	if running != 0 || most > 2 {
		t.Errorf("%d at once, %d left", most, running)
	}
}

func TestHole19AnUnchangedTreeCostsNothing(t *testing.T) {
	g := newGated(t, theCheck)
	g.stop().is(t, "passed")
	before := contents(t, g.path("gauntlet_logs"))
	g.stop().is(t, "passed", "unchanged")
	if g.runs() != 1 || len(contents(t, g.path("gauntlet_logs"))) != len(before) {
		t.Errorf("%d runs, %q", g.runs(), g.logs())
	}
}

const twoReviewers = "cli: {default_preference: [claude, codex]}"

// fallback is a project whose first reviewer does what the script says, and whose
// second finds nothing.
func fallback(t *testing.T, script string) *gated {
	t.Helper()
	g := newGated(t, strings.Replace(reviewed, "cli: {default_preference: [claude]}", twoReviewers, 1))
	g.reviewer("codex", reviewPasses)
	spill(t, filepath.Join(g.beside("bin"), "claude"), "#!/bin/sh\necho run >> '"+g.beside("claude.runs")+"'\n"+script+"\n")
	return g
}

func (g *gated) asked(name string) int {
	return strings.Count(slurp(g.t, g.beside(name+".runs")), "\n")
}

func TestHole20QuotaHitMidReviewGoesToTheOtherReviewer(t *testing.T) {
	g := fallback(t, "echo 'You are out of usage; your usage limit will reset at 3pm'; exit 1")
	g.stop().is(t, "passed")
	if g.asked("claude") != 1 || g.asked("codex") != 1 {
		t.Errorf("claude was asked %d times, codex %d", g.asked("claude"), g.asked("codex"))
	}
	g.write("work.txt", "more\n")
	g.stop().is(t, "passed")
	if g.asked("claude") != 1 || g.asked("codex") != 2 {
		t.Errorf("during its cooldown claude was asked %d times, codex %d", g.asked("claude"), g.asked("codex"))
	}
}

func TestHole20AReviewerThatFailsIsReplaced(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"crashes":            "exit 7",
		"hangs":              "exec sleep 600",
		"answers nonsense":   `echo '{"status": "perhaps"}'`,
		"contradicts itself": `echo '{"status": "pass", "violations": [{"file": "x", "issue": "y"}]}'`,
		"never ends its {":   `yes '{' | head -c 300000`,
	} {
		t.Run(name, func(t *testing.T) {
			g := fallback(t, script)
			if name == "hangs" { // a tenth of it is enough for the other one on a busy machine
				config := slurp(t, g.path(".gauntlet/config.yml"))
				g.write(".gauntlet/config.yml", strings.ReplaceAll(config, "prompt: Look for defects.", "prompt: Look for defects., timeout: 6"))
			}
			g.stop().is(t, "passed")
			if g.asked("claude") != 1 || g.asked("codex") != 1 {
				t.Errorf("claude was asked %d times, codex %d", g.asked("claude"), g.asked("codex"))
			}
		})
	}
}

func TestHole20TheModelReachesTheReviewer(t *testing.T) {
	g := newGated(t, strings.Replace(reviewed, "prompt: Look for defects.", "prompt: Look for defects., model: the-model", 1))
	g.reviewer("claude", reviewPasses)
	script := filepath.Join(g.beside("bin"), "claude")
	spill(t, script, slurp(t, script)+"printf '%s\\n' \"$@\" > '"+g.beside("args")+"'\n")
	g.stop().is(t, "passed")
	contains(t, slurp(t, g.beside("args")), "--model=the-model")
}

func TestHole22AReportForMachines(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	r := g.call(nil, "run", "--json")
	var report struct {
		Status, Message, ConsoleLogPath string
		Gates                           []struct{ Job, Outcome, Log string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 1 {
		t.Fatalf("%v in %+v", err, r)
	}
	if report.Status != "failed" || report.Message == "" || report.ConsoleLogPath != g.log("console.1.log") ||
		len(report.Gates) != 1 || report.Gates[0].Job != "check:.:tests" || report.Gates[0].Outcome != "failed" {
		t.Errorf("%+v", report)
	}
}

// The exit codes of run, check and review.
func TestRuling120ExitCodes(t *testing.T) {
	t.Parallel()
	failing := strings.ReplaceAll(theCheck, "test ! -e bad", "false")
	for name, tt := range map[string]struct {
		config string
		code   int
	}{
		"passed":        {theCheck, 0},
		"nothing to do": {strings.Replace(theCheck, "path: .", "path: src", 1), 0},
		"failed":        {failing, 1},
		"config error":  {"{", 2},
		"could not run": {strings.ReplaceAll(theCheck, "test !", "no-such-tool !"), 3},
		"no retry":      {failing + "max_retries: 0\n", 1},
	} {
		for _, command := range []string{"run", "check"} {
			t.Run(command+" "+name, func(t *testing.T) {
				g := newGated(t, tt.config)
				if r := g.call(nil, command); r.code != tt.code {
					t.Errorf("exit %d, want %d: %+v", r.code, tt.code, r)
				}
			})
		}
	}
	for answer, code := range map[string]int{reviewPasses: 0, reviewFails: 1, "nonsense": 3} {
		t.Run("review "+strconv.Itoa(code), func(t *testing.T) {
			g := newGated(t, reviewed)
			g.reviewer("claude", answer)
			if r := g.call(nil, "review"); r.code != code {
				t.Errorf("exit %d, want %d: %+v", r.code, code, r)
			}
		})
	}
}
