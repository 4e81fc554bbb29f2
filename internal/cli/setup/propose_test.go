package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// A project's own files name its checks, and one that they do not name is not proposed.
func TestPropose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":             {map[string]string{"README": ""}, nil},
		"make":                {map[string]string{"Makefile": "all:\n\ntest: all\n"}, []string{"test: make test (Makefile has the target test)"}},
		"make, in lower case": {map[string]string{"makefile": "test lint:\n"}, []string{"lint: make lint (makefile has the target lint)", "test: make test (makefile has the target test)"}},
		"make check":          {map[string]string{"Makefile": "check:\n"}, []string{"check: make check (Makefile has the target check)"}},
		"check beside test":   {map[string]string{"Makefile": "check:\ntest:\n"}, []string{"test: make test (Makefile has the target test)"}},
		"no such target":      {map[string]string{"Makefile": "all:\n"}, nil},
		"just":                {map[string]string{"justfile": "test:\n  x\n"}, []string{"test: just test (justfile has the recipe test)"}},
		"task":                {map[string]string{"Taskfile.yml": "tasks:\n  lint: x\n"}, []string{"lint: task lint (Taskfile.yml has the task lint)"}},
		"npm":                 {map[string]string{"package.json": `{"scripts": {"test": "jest", "lint": "eslint ."}}`}, []string{"lint: npm run lint (package.json has the script lint)", "test: npm test (package.json has the script test)"}},
		"npm init":            {map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil},
		"no scripts":          {map[string]string{"package.json": `{}`}, nil},
		"pnpm":                {map[string]string{"package.json": `{"scripts": {"test": "vitest run"}}`, "pnpm-lock.yaml": ""}, []string{"test: pnpm test (package.json has the script test)"}},
		"yarn, by name":       {map[string]string{"package.json": `{"packageManager": "yarn@4.1.0", "scripts": {"test": "jest"}}`}, []string{"test: yarn test (package.json has the script test)"}},
		"bun":                 {map[string]string{"package.json": `{"scripts": {"test": "x"}}`, "bun.lock": ""}, []string{"test: bun run test (package.json has the script test)"}},
		"go":                  {map[string]string{"go.mod": "module x\n"}, []string{"lint: go vet ./... (found go.mod)", "test: go test ./... (found go.mod)"}},
		"go with a linter":    {map[string]string{"go.mod": "module x\n", ".golangci.yml": ""}, []string{"lint: golangci-lint run (found .golangci.yml)", "test: go test ./... (found go.mod)"}},
		"make before go":      {map[string]string{"go.mod": "module x\n", "Makefile": "test:\n"}, []string{"lint: go vet ./... (found go.mod)", "test: make test (Makefile has the target test)"}},
		"cargo":               {map[string]string{"Cargo.toml": "[package]\n"}, []string{"test: cargo test (found Cargo.toml)"}},
		"clippy":              {map[string]string{"Cargo.toml": "[lints.clippy]\n"}, []string{"lint: cargo clippy -- -D warnings (Cargo.toml configures clippy)", "test: cargo test (found Cargo.toml)"}},
		"python":              {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff.lint]\n"}, []string{"lint: ruff check (pyproject.toml names ruff)", "test: pytest -q (pyproject.toml names pytest)"}},
		"python without":      {map[string]string{"pyproject.toml": "[project]\n"}, nil},
		"uv":                  {map[string]string{"pytest.ini": "", "uv.lock": ""}, []string{"test: uv run pytest -q (pytest.ini names pytest)"}},
	} {
		root := t.TempDir()
		for file, text := range test.files {
			checktest.OK(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
		}
		var got []string
		for _, p := range propose(root) {
			got = append(got, p.name+": "+p.command+" ("+p.why+")")
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
