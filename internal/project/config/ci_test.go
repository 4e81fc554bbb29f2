package config

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
)

func TestCI(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ci.yml"), `
runtimes:
  node: {version: "20", lts: true, matrix: [18, 2.5, null, {a: b}]}
  bun:
services:
  postgres:
    image: postgres:16
    ports: ["5432:5432"]
setup:
  - {name: deps, run: make deps, working_directory: ./web/, if: always()}
checks:
  - name: test
    requires_runtimes: [node]
    requires_services: [postgres]
    setup:
      - name: migrate
        run: make migrate
  - name: lint
`)
	got, err := LoadCI(dir, ".gauntlet")
	check(t, err)
	file := filepath.Join(".gauntlet", "ci.yml")
	want := &CI{
		Runtimes: map[string]map[string]any{
			"node": {"version": "20", "lts": true, "matrix": []any{uint64(18), 2.5, nil, map[string]any{"a": "b"}}},
			"bun":  {},
		},
		Services: map[string]map[string]any{"postgres": {"image": "postgres:16", "ports": []any{"5432:5432"}}},
		Setup:    []CIStep{{Name: "deps", Run: "make deps", WorkingDirectory: "web"}},
		Checks: []CICheck{
			{
				Name: "test", RequiresRuntimes: []string{"node"}, RequiresServices: []string{"postgres"},
				Setup: []CIStep{{Name: "migrate", Run: "make migrate"}}, Pos: document.Position{File: file, Line: 12, Column: 5},
			},
			{Name: "lint", Pos: document.Position{File: file, Line: 18, Column: 5}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

func TestEmptyCI(t *testing.T) {
	for _, text := range []string{"", "runtimes:\nservices:\nsetup:\nchecks:\n", "checks: []\n"} {
		if _, err := ParseCI("ci.yml", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMissingCI(t *testing.T) {
	_, err := LoadCI(t.TempDir(), ".gauntlet")
	var faults *document.Faults
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &faults) || !strings.Contains(faults.All[0].Hint, "ci init") {
		t.Errorf("got %v", err)
	}
}
