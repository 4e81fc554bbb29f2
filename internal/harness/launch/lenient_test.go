package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a hook one slip of the pen must not take the budget away with it.
func TestFaultsInTheSupervisorsBlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), ConfigFile)
	text := `{"supervisor": {"timeout_seconds": 2.5, "max_iterations": 1, "max_cost_usd": 0.5, "prompt_file": 7}}`
	must(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := LoadSupervisor(path)
	if s.MaxIterations == nil || *s.MaxIterations != 1 || s.MaxCost == nil || *s.MaxCost != 0.5 || s.Timeout != nil || s.PromptFile != "" {
		t.Errorf("got %+v", s)
	}
	if err == nil || !strings.Contains(err.Error(), "timeout_seconds") || !strings.Contains(err.Error(), "prompt_file") {
		t.Errorf("got %v", err)
	}
}
