package conformance

import "testing"

// The fields are used: cwd finds the project although the process is elsewhere,
// and stop_hook_active alone makes the difference between a run and none.
func TestValidHookInput(t *testing.T) {
	g := newGated(t, theCheck)
	call := func(active bool) answer {
		return g.stopFrom(t.TempDir(), map[string]any{"stop_hook_active": active, "a_later_field": map[string]any{"x": 1}})
	}
	call(false).is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
	call(true).is(t, "stop_hook_active")
	if g.runs() != 1 {
		t.Errorf("%d runs although stop_hook_active was true", g.runs())
	}
}

// notPayloads are what a parser must refuse.
var notPayloads = map[string]string{
	"empty":           "",
	"blank":           " \n\t\n",
	"null":            "null",
	"array":           "[]",
	"string":          `"Stop"`,
	"number":          "0",
	"broken":          `{"cwd": "/tmp"`,
	"trailing":        `{} {}`,
	"words":           "stop",
	"binary":          "\x00\xff\xfe\x01{}",
	"flag is a text":  `{"stop_hook_active": "no"}`,
	"cwd is a number": `{"cwd": 1}`,
}

func TestMissingOrInvalidJSON(t *testing.T) {
	t.Parallel()
	for name, text := range notPayloads {
		t.Run(name, func(t *testing.T) {
			g := newGated(t, theCheck)
			a := understand(t, g.call([]byte(text), "stop-hook"))
			a.is(t, "invalid_input", "could not parse")
			if a.Decision != "approve" || g.runs() != 0 {
				t.Errorf("%d runs, %s", g.runs(), a.stdout)
			}
		})
	}
}

func TestStopHookActiveIsTrue(t *testing.T) {
	g := newGated(t, theCheck)
	g.write("bad", "")
	a := g.stopWith(map[string]any{"stop_hook_active": true})
	a.is(t, "stop_hook_active")
	if a.Decision != "approve" || g.runs() != 0 || exists(g.path("gauntlet_logs")) {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
}

func TestStopHookActiveIsFalse(t *testing.T) {
	g := newGated(t, theCheck)
	g.stopWith(map[string]any{"stop_hook_active": false}).is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
	none := bare(t)
	none.stopWith(map[string]any{"stop_hook_active": false}).is(t, "no_config")
}

func TestNoGauntletConfigExists(t *testing.T) {
	t.Parallel()
	g := bare(t)
	g.write(".gauntlet/checks/tests.yml", `command: echo run >> "$RUNS"`)
	a := g.stop()
	a.is(t, "no_config")
	if a.Decision != "approve" || g.runs() != 0 || exists(g.path("gauntlet_logs")) {
		t.Errorf("%d runs, %s", g.runs(), a.stdout)
	}
}

func TestGauntletConfigExists(t *testing.T) {
	g := newGated(t, theCheck)
	g.stop().is(t, "passed")
	if g.runs() != 1 {
		t.Errorf("%d runs", g.runs())
	}
}
