package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The documentation shows files that work, and knows every key.
func TestDocumentedFiles(t *testing.T) {
	for _, name := range []string{"guides/supervisor.md", "guides/launcher.md", "reference/configuration.md"} {
		examples := jsonIn(t, filepath.Join("../../../docs", name))
		if len(examples) == 0 {
			t.Errorf("%s shows no ccc.json", name)
		}
		for _, example := range examples {
			path := filepath.Join(t.TempDir(), ConfigFile)
			must(t, os.WriteFile(path, []byte(example), 0o600))
			c, err := Load(path)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, example)
				continue
			}
			if _, err := c.Choose(""); err != nil {
				t.Errorf("%s: %v\n%s", name, err, example)
			}
			for _, provider := range c.Names() {
				if _, err := c.Environment(provider, []string{"GLM_TOKEN=x", "KIMI_TOKEN=y"}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	page, err := os.ReadFile("../../../docs/reference/configuration.md")
	must(t, err)
	_, section, _ := strings.Cut(string(page), "## The launcher")
	known := []string{
		"settings", "providers", "env", "current_provider", "claude_args",
		"supervisor", "max_iterations", "timeout_seconds", "prompt_file", "max_cost_usd",
	}
	var missing []string
	for _, key := range known {
		if !strings.Contains(section, "`"+key+"`") {
			missing = append(missing, key)
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("docs/reference/configuration.md: %s", diff)
	}
}

// jsonIn are the JSON examples of a page.
func jsonIn(t *testing.T, path string) (all []string) {
	t.Helper()
	page, err := os.ReadFile(path)
	must(t, err)
	for _, example := range strings.Split(string(page), "```json\n")[1:] {
		example, _, _ = strings.Cut(example, "```")
		all = append(all, example)
	}
	return all
}
