package effect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/engine"
)

// kind are agents that say which they are.
type kind struct {
	fakeAgents
	name string
}

func newKind(name string, b *book) kind {
	return kind{fakeAgents{&world{book: b, act: func(string) error { b.write("by %s", name); return nil }}}, name}
}

func (k kind) End(context.Context) error { return errors.New(k.name + " ended") }

func TestRoute(t *testing.T) {
	e := Errands{StateDir: t.TempDir()}
	for name, spec := range map[string]string{"terminal": `{"terminal":true}`, "process": `{}`} {
		dir := filepath.Join(e.StateDir, "errands", name)
		check(t, os.MkdirAll(dir, 0o700))
		check(t, os.WriteFile(filepath.Join(dir, "spec.json"), []byte(spec), 0o600))
	}
	b := &book{}
	r := e.Route(newKind("clients", b), newKind("plain", b))
	check(t, r.Start(t.Context(), nil, engine.AgentStart{ID: "c", ClaudeCode: true}))
	check(t, r.Start(t.Context(), nil, engine.AgentStart{ID: "p"}))
	for _, agent := range []string{"terminal", "process", "unknown", "../x"} {
		check(t, r.Send(t.Context(), agent, "k", "text"))
		check(t, r.Kill(t.Context(), agent))
	}
	want := []string{
		"agent c", "by clients", "agent p", "by plain",
		"send terminal k text", "by clients", "kill terminal", "by clients",
		"send process k text", "by plain", "kill process", "by plain",
		"send unknown k text", "by plain", "kill unknown", "by plain",
		"send ../x k text", "by plain", "kill ../x", "by plain",
	}
	if diff := cmp.Diff(want, b.read()); diff != "" {
		t.Error(diff)
	}
	// A daemon that ends everything ends also what clients leave behind.
	w := New(Options{Agents: r, Shells: fakeShells{&world{book: b}}})
	if err := w.Kill(t.Context(), nil); err == nil || err.Error() != "clients ended" {
		t.Errorf("it says %v", err)
	}
	check(t, w.Stop(t.Context()))
}
