package daemon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

func TestAttachArgs(t *testing.T) {
	where := daemonapi.Terminal{Socket: "/a b/tmux.sock", Session: "stopgate-worker-0d9a4d52"}
	for _, test := range []struct {
		readOnly, inside bool
		want             string
	}{
		{false, false, "attach-session|-t|=stopgate-worker-0d9a4d52:|;|display-message|Ctrl-b d detaches; the agent keeps running"},
		{true, true, "attach-session|-t|=stopgate-worker-0d9a4d52:|-r|;|display-message|Ctrl-b Ctrl-b d detaches; the agent keeps running"},
	} {
		got := strings.Join(attachArgs(where, test.readOnly, test.inside), "|")
		want := "-u|-S|/a b/tmux.sock|set-option|-q|-t|=stopgate-worker-0d9a4d52:|display-time|5000|;|" + test.want
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWithoutTmux(t *testing.T) {
	env := []string{"A=1", "TMUX=/tmp/x,1,0", "TMUX_PANE=%3", "TMUX_TMPDIR=/tmp"}
	if diff := cmp.Diff([]string{"A=1", "TMUX_TMPDIR=/tmp"}, withoutTmux(env)); diff != "" || len(env) != 4 {
		t.Errorf("%q\n%s", env, diff)
	}
}
