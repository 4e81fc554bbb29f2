package effect

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/engine"
)

type fakeWorkspaces struct{ *world }

func (f fakeWorkspaces) Make(ctx context.Context, _ string, t engine.WorkspaceTask) (engine.WorkspaceMade, error) {
	err := f.do("make %s", t.Dir)
	if f.send != nil {
		err = f.send(ctx)
	}
	return engine.WorkspaceMade{Commit: "abc"}, err
}

func (f fakeWorkspaces) Remove(_ context.Context, t engine.WorkspaceTask) (engine.WorkspaceRemoved, error) {
	return engine.WorkspaceRemoved{}, f.do("remove %s", t.Dir)
}

var _ Workspaces = fakeWorkspaces{}

func space(key string, kind engine.EffectKind) engine.Effect {
	return engine.Effect{Key: key, Kind: kind, Workspace: &engine.WorkspaceTask{Dir: "/ws/a"}}
}

// What runs in a workspace starts when that is there, and ends before it goes.
func TestAWorkspaceComesFirstAndGoesLast(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o", fresh(space("1", engine.MakeWorkspace)), fresh(shell("2"))))
		w.want(t, "started 1", "make /ws/a", "made 1 from abc", "started 2", "run 2 make", "done 2")
		w.add("o", aim("3", engine.KillShell, "2"), space("4", engine.RemoveWorkspace))
		synctest.Wait()
		if got := w.read()[6:]; len(got) != 6 || got[1] != "kill 2" || got[4] != "remove /ws/a" || got[5] != `removed 4 kept=""` {
			t.Errorf("%q", got)
		}
	})
}

// One that is cancelled before it is made is not made; while it is made, that ends.
func TestAWorkspaceThatIsNotWantedAnyMore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o", fresh(space("1", engine.MakeWorkspace)), fresh(space("2", engine.RemoveWorkspace))))
		w.want(t, "done 1", "started 2", "remove /ws/a", `removed 2 kept=""`)
	})
	inWorld(t, func(t *testing.T, w *world) {
		w.send = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		w.put(open("o", fresh(space("1", engine.MakeWorkspace))))
		w.want(t, "started 1", "make /ws/a")
		w.add("o", space("2", engine.RemoveWorkspace))
		w.want(t, "started 1", "make /ws/a", "done 1", "started 2", "remove /ws/a", `removed 2 kept=""`)
	})
}

// It is removed and made again where that is the order.
func TestAWorkspaceIsMadeAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.put(open("o", fresh(space("1", engine.RemoveWorkspace)), fresh(space("2", engine.MakeWorkspace))))
		w.want(t, "started 1", "remove /ws/a", `removed 1 kept=""`, "started 2", "make /ws/a", "made 2 from abc")
	})
	inWorld(t, func(t *testing.T, w *world) { // and the worker does not know yet that it was removed
		o := open("o", fresh(space("1", engine.RemoveWorkspace)), fresh(space("2", engine.MakeWorkspace)))
		w.owners["o"], w.quiet = o, true
		w.worker.Wake(o)
		w.want(t, "started 1", "remove /ws/a", `removed 1 kept=""`, "started 2", "make /ws/a", "made 2 from abc")
	})
}

func TestAWorkspaceFailsForGood(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.act = func(string) error { return &errand.Failure{Why: "no space"} }
		w.put(open("o", fresh(space("1", engine.MakeWorkspace))))
		w.want(t, "started 1", "make /ws/a", "failed 1: no space")
	})
	inWorld(t, func(t *testing.T, w *world) {
		w.worker.opts.Workspaces = nil
		w.put(open("o", fresh(space("1", engine.MakeWorkspace)), fresh(space("2", engine.RemoveWorkspace))))
		w.want(t, "done 1", "started 2", "failed 2: workspaces are not supported here")
	})
}
