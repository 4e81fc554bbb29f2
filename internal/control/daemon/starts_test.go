package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/control/store/storetest/memory"
)

// clientPlan is a pipeline of one agent in a terminal.
func clientPlan() runbook.Plan {
	plan := agentPlan(runbook.Action{Kind: runbook.Escalate, Attempts: 1})
	coder := plan.Agents["coder"]
	coder.Run, coder.ClaudeCode = "claude", true
	plan.Agents["coder"] = coder
	return plan
}

// screen is what a client shows.
type screen struct {
	mu         sync.Mutex
	kind, text string
	err        error
	looks      int
}

func (s *screen) show(kind, text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kind, s.text, s.err = kind, text, err
}

func (s *screen) look(context.Context, string) (string, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	return s.kind, s.text, s.err
}

func (s *screen) looked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}

// whileStarting runs a test with an owner whose client was started.
func whileStarting(t *testing.T, test func(t *testing.T, c *core, s *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		defer m.Close()
		c, s := testCore(m), &screen{}
		w := newStarts(c, s.look, func(engine.AgentStart) string { return "" })
		defer w.end()
		c.changed = func(_, after *engine.Owner) { w.changed(after) }
		plan := clientPlan()
		coder := plan.Agents["coder"]
		coder.Prompt = "Write it."
		plan.Agents["coder"] = coder
		do(t, c, anID, create(anID, plan))
		time.Sleep(2 * silence)
		synctest.Wait()
		if n := s.looked(); n != 0 {
			t.Errorf("%d looks at a client that does not run yet", n)
		}
		done(t, c, anID)
		test(t, c, s)
	})
}

// decided is the open decision's context, or "".
func decided(c *core) string {
	if d := c.owner(anID).Decision; d != nil {
		return string(d.Source) + ": " + d.Context
	}
	return ""
}

func TestBlockedStart(t *testing.T) {
	for _, kind := range []string{"trust", "login", "api_key", "onboarding"} {
		t.Run(kind, func(t *testing.T) {
			whileStarting(t, func(t *testing.T, c *core, s *screen) {
				s.show(kind, "Do you trust this folder?", nil)
				time.Sleep(lookEvery + lookEvery/2)
				synctest.Wait()
				if got := decided(c); got != "" {
					t.Errorf("after one look: %q", got)
				}
				time.Sleep(lookEvery)
				synctest.Wait()
				got := decided(c)
				if !strings.HasPrefix(got, "start: ") {
					t.Fatalf("decision %q", got)
				}
				version, looks := c.owner(anID).Version, s.looked()
				time.Sleep(5 * silence)
				synctest.Wait()
				if n := s.looked() - looks; n > int(5*silence/lookSeldom)+1 {
					t.Errorf("%d looks while a person is waited for", n)
				}
				if c.owner(anID).Version != version {
					t.Error("it was told again")
				}
				do(t, c, anID, engine.Input{ID: "working", What: engine.AgentWorking{AgentID: c.owner(anID).Agent.ID}})
				time.Sleep(silence)
				synctest.Wait()
				looks = s.looked()
				time.Sleep(silence)
				synctest.Wait()
				if s.looked() != looks {
					t.Error("a client that works is watched")
				}
				if got := decided(c); got != "" {
					t.Errorf("after its start: %q", got)
				}
			})
		})
	}
}

func TestSilentStart(t *testing.T) {
	for name, show := range map[string]func(s *screen){
		"nothing to see": func(s *screen) { s.show("", "❯ ", nil) },
		"some dialog":    func(s *screen) { s.show("dialog", "Pick a theme", nil) },
		"nobody can see": func(s *screen) { s.show("", "", errors.New("no server running")) },
		"flickering":     func(s *screen) { s.show("", "x", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			whileStarting(t, func(t *testing.T, c *core, s *screen) {
				show(s)
				time.Sleep(silence - lookEvery)
				synctest.Wait()
				if got := decided(c); got != "" {
					t.Errorf("too early: %q", got)
				}
				time.Sleep(3 * lookEvery)
				synctest.Wait()
				if got := decided(c); !strings.HasPrefix(got, "start: ") {
					t.Errorf("decision %q", got)
				}
			})
		})
	}
}

// A client that has started may take its prompt for nothing to work on.
func TestStartWithoutATurn(t *testing.T) {
	for name, test := range map[string]struct {
		does func(agent string) engine.Happening
		want string
	}{
		"nothing":     {func(a string) engine.Happening { return engine.AgentReady{AgentID: a} }, "start: "},
		"it works":    {func(a string) engine.Happening { return engine.AgentWorking{AgentID: a, Prompt: "p"} }, ""},
		"it stops":    {func(a string) engine.Happening { return engine.AgentRested{AgentID: a, Prompt: "p"} }, ""},
		"it is there": {func(a string) engine.Happening { return engine.AgentSession{AgentID: a, Session: "s"} }, "start: "},
	} {
		t.Run(name, func(t *testing.T) {
			whileStarting(t, func(t *testing.T, c *core, s *screen) {
				agent := c.owner(anID).Agent.ID
				s.show("", "Unknown command: /nosuch", nil)
				time.Sleep(silence - time.Second)
				do(t, c, anID, engine.Input{ID: "ready", What: engine.AgentReady{AgentID: agent}})
				do(t, c, anID, engine.Input{ID: "does", What: test.does(agent)})
				time.Sleep(dawdling - time.Second)
				synctest.Wait()
				if got := decided(c); got != "" {
					t.Errorf("too early: %q", got)
				}
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if got := decided(c); !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
					t.Errorf("decision %q", got)
				}
			})
		})
	}
}

// What is seen once is a screen that is being drawn.
func TestAScreenThatIsDrawn(t *testing.T) {
	whileStarting(t, func(t *testing.T, c *core, s *screen) {
		for range 10 {
			s.show("trust", "…", nil)
			time.Sleep(lookEvery)
			synctest.Wait()
			s.show("", "", nil)
			time.Sleep(lookEvery)
			synctest.Wait()
		}
		if got := decided(c); got != "" {
			t.Errorf("decision %q", got)
		}
	})
}

func TestStartThatIsOver(t *testing.T) {
	for name, over := range map[string]engine.Happening{
		"exited":    engine.AgentExited{Code: 1},
		"cancelled": engine.Cancel{},
	} {
		t.Run(name, func(t *testing.T) {
			whileStarting(t, func(t *testing.T, c *core, s *screen) {
				if exited, is := over.(engine.AgentExited); is {
					exited.AgentID = c.owner(anID).Agent.ID
					over = exited
				}
				do(t, c, anID, engine.Input{ID: "over", What: over})
				time.Sleep(time.Second)
				looks := s.looked()
				time.Sleep(2 * silence)
				synctest.Wait()
				if s.looked() != looks {
					t.Error("it is still watched")
				}
			})
		})
	}
}

// What counts is what is in force where the agent runs.
func TestHooksOff(t *testing.T) {
	const off = `{"disableAllHooks":true}`
	for name, test := range map[string]struct {
		file, run string
		off       bool
	}{
		"nowhere":                {"other/settings.json", "claude", false},
		"in the agent's cwd":     {"p/sub/.claude/settings.json", "claude", true},
		"in its owner's":         {"p/.claude/settings.json", "claude", false},
		"in the user's":          {"home/.claude/settings.json", "claude", true},
		"where run says":         {"own/settings.json", "CLAUDE_CONFIG_DIR=../../own claude", true},
		"in the launcher's":      {"ccc/settings.json", "ccc", true},
		"in that of no launcher": {"ccc/settings.json", "claude", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, filepath.FromSlash(test.file))
			check(t, os.MkdirAll(filepath.Dir(path), 0o755))
			check(t, os.WriteFile(path, []byte(off), 0o644))
			plan := clientPlan()
			coder := plan.Agents["coder"]
			coder.Run, coder.Cwd = test.run, "sub"
			plan.Agents["coder"] = coder
			in := create(anID, plan)
			what := in.What.(engine.Create)
			what.Cwd = filepath.Join(root, "p")
			in.What = what
			c := testCore(newMemory(t))
			o := do(t, c, anID, in)
			opts := Options{Environ: []string{"HOME=" + filepath.Join(root, "home"), "CCC_CONFIG_DIR=" + filepath.Join(root, "ccc")}}
			got := newStarts(c, nil, opts.configDir).hooksOff(*o.AgentStart())
			if strings.Contains(got, path) != test.off || got == "" == test.off {
				t.Errorf("%q", got)
			}
		})
	}
}
