package hook

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestCommittedSchemasAreWhatTheGeneratorWrites(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(environtest.Need(t, "go"), "run", "./schemagen", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fresh, err := filepath.Glob(filepath.Join(dir, "*.json"))
	check(t, err)
	committed, err := filepath.Glob("schema/*.json")
	check(t, err)
	if len(fresh) != len(committed) || len(fresh) != len(Typed()) {
		t.Errorf("%d generated, %d committed, %d events", len(fresh), len(committed), len(Typed()))
	}
	for _, path := range fresh {
		want, err := os.ReadFile(path)
		check(t, err)
		got, err := os.ReadFile(filepath.Join("schema", filepath.Base(path)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date: run go generate ./internal/harness/hook (%v)", filepath.Base(path), err)
		}
	}
}

func TestNoSchemaForAnUnknownEvent(t *testing.T) {
	for _, e := range []Event{"", "Nope", "../hook"} {
		if _, err := Schema(e); err == nil {
			t.Errorf("%q has a schema", e)
		}
	}
}
