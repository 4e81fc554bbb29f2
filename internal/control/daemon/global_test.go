package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A slip of the pen is no reason to tell nobody, and lifts no limit.
func TestGlobalConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yml")
	var log bytes.Buffer
	c := &globalConfig{path: path, log: slog.New(slog.NewTextHandler(&log, nil))}
	write := func(text string) { check(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("notify: {command: [}")
	if _, err := c.notify(); err == nil {
		t.Error("that nobody knows how to tell is no error")
	}
	// It never was without faults: what has none holds.
	write("notify: {command: tell}\nlifecycle: {max_agents: x}\n")
	if got, err := c.notify(); err != nil || got.Command != "tell" {
		t.Errorf("%+v, %v", got, err)
	}
	write("notify: {comand: tell}\nlifecycle: {max_agents: 3}\n")
	if n := c.now().Lifecycle.MaxAgents; n != 3 {
		t.Errorf("%d agents at once", n)
	}
	const good = "notify: {command: tell}\nlifecycle: {max_agents: 2}\nprices: [{model: x, input: 1, output: 2}]\n"
	for _, text := range []string{good, good + "nonsense: 1\n", "notify: {command: [}", "lifecycle: {max_agents: 3}\nprices: 5\n"} {
		write(text)
		if got, err := c.notify(); err != nil || got.Command != "tell" {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if g := c.now(); g.Lifecycle.MaxAgents != 2 || len(g.Prices) != 1 {
			t.Errorf("%q: %+v", text, g)
		}
	}
	check(t, os.Remove(path)) // a person takes everything back
	if got, err := c.notify(); err != nil || got.Command != "" || c.now().Lifecycle.MaxAgents != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if warned, well := strings.Count(log.String(), "level=WARN"), strings.Count(log.String(), "level=INFO"); warned != 6 || well != 2 {
		t.Errorf("%d warnings, %d times well again:\n%s", warned, well, log.String())
	}
}
