//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A client that a supervised agent starts is not supervised.
func TestLaunchInsideASupervisedAgent(t *testing.T) {
	p := newPlace(t, plainConfig).supervised()
	p.environ = append(p.environ, "CLAUDECODE=1", IDVariable+"=01ARZ3NDEKTSV4RRFFQ69G5FAV")
	plan := p.prepare("glm")
	if value, _ := variable(plan, SupervisorVariable); value != "0" {
		t.Errorf("%s is %q", SupervisorVariable, value)
	}
	if _, found := variable(plan, IDVariable); found || exists(p.settings) {
		t.Error("it is a launch of its own")
	}
}

// A client inside an agent that nobody supervises is supervised, and so is one outside any agent.
func TestLaunchInsideNoSupervisedAgent(t *testing.T) {
	for _, entry := range []string{"CLAUDECODE=1", IDVariable + "=01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		p := newPlace(t, plainConfig).supervised()
		p.environ = append(p.environ, entry)
		plan := p.prepare("glm")
		if value, _ := variable(plan, SupervisorVariable); value != "1" || !exists(p.settings) {
			t.Errorf("%s: %s is %q", entry, SupervisorVariable, value)
		}
	}
}

// A script in the client's place that calls us would go on for ever.
func TestClientThatStartsUsAgain(t *testing.T) {
	p := newPlace(t, plainConfig)
	plan := p.prepare("glm")
	if value, _ := variable(plan, pidVariable); value != strconv.Itoa(os.Getpid()) {
		t.Fatalf("%s is %q", pidVariable, value)
	}
	o := p.options("glm")
	o.Environ = plan.Env
	_, err := Prepare(o)
	var client StartError
	if !errors.As(err, &client) || !strings.Contains(err.Error(), "starts stopgate again") {
		t.Errorf("got %v", err)
	}
}

// What counts before a provider is chosen is no provider's.
func TestFirstUseLeavesOurOwnVariables(t *testing.T) {
	all := literals([]byte(`{"CLAUDE_CONFIG_DIR":"/c","CCC_WORK_DIR":"/w","STOPGATE_STATE_DIR":"/s","ANTHROPIC_MODEL":"m"}`))
	if len(all) != 1 || all["ANTHROPIC_MODEL"] != "m" {
		t.Errorf("got %v", all)
	}
}

// The client's hooks look for it from wherever the agent has gone.
func TestClientByARelativePath(t *testing.T) {
	for _, name := range []string{"CCC_CLAUDE", "CLAUDE_BIN"} {
		p := newPlace(t, plainConfig)
		t.Chdir(filepath.Dir(p.clients))
		p.environ = append(p.environ, name+"="+filepath.Join(filepath.Base(p.clients), "claude"))
		plan := p.prepare("glm")
		if value, _ := variable(plan, name); value != filepath.Join(p.clients, "claude") {
			t.Errorf("%s is %q", name, value)
		}
	}
}
