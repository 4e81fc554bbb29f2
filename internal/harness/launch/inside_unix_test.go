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
	var client ClientError
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
	p := newPlace(t, plainConfig)
	t.Chdir(filepath.Dir(p.clients))
	p.environ = append(p.environ, "CCC_CLAUDE="+filepath.Join(filepath.Base(p.clients), "claude"))
	plan := p.prepare("glm")
	if value, _ := variable(plan, "CCC_CLAUDE"); value != filepath.Join(p.clients, "claude") {
		t.Errorf("CCC_CLAUDE is %q", value)
	}
}
