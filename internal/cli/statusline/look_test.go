package statusline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
)

// The queue is that of the tmux session in whose pane Claude Code runs; what cannot be read is
// left out.
func TestTheQueueOfTheSession(t *testing.T) {
	state, now := t.TempDir(), time.Now()
	check(t, presence.NewBook(state).Store(presence.Instance{Session: "work", Socket: "/tmp/tmux,0/default", PID: 7, Pane: "%3"}))
	store := queue.NewStore(state)
	q := queue.New("work", "id", []string{"one", "two", "three"}, now)
	q.Commands[0].Status = queue.Done
	check(t, store.Create("work", q))

	place := func(env ...string) *Place {
		return &Place{StateDir: state, Environ: env, Now: func() time.Time { return now }}
	}
	inside := place("TMUX=/tmp/tmux,0/default,7,0", "TMUX_PANE=%3")
	if v := inside.Look(hook.StatusLine{}); v.Done != 1 || v.Queued != 3 {
		t.Errorf("%+v", v)
	}
	for name, p := range map[string]*Place{
		"outside tmux":       place(),
		"another pane":       place("TMUX=/tmp/tmux,0/default,7,0", "TMUX_PANE=%4"),
		"another server":     place("TMUX=/tmp/tmux,0/default,8,0", "TMUX_PANE=%3"),
		"what is not a pane": place("TMUX=x", "TMUX_PANE=y"),
		"no state directory": {StateDir: filepath.Join(state, "none"), Environ: inside.Environ, Now: inside.Now},
	} {
		if v := p.Look(hook.StatusLine{}); v.Queued != 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}

	for name, text := range map[string]string{"damaged": "{", "too long to read": `{"commands":[` + strings.Repeat(" ", 1<<20) + `]}`} {
		check(t, os.WriteFile(store.Path("work"), []byte(text), 0o600))
		if v := inside.Look(hook.StatusLine{}); v.Queued != 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestFieldsThatAreNotWhatTheyShouldBe(t *testing.T) {
	in, ok := hook.DecodeStatusLine([]byte(`{"session_id":["x"],"cwd":"/p","workspace":{"current_dir":"/q"},"cost":{"total_cost_usd":-5},"new":{}}`))
	if !ok || in.SessionID != "" || in.CWD != "/p" || in.Workspace.Current != "/q" {
		t.Errorf("%+v, %t", in, ok)
	}
	p := Place{StateDir: t.TempDir(), Now: time.Now}
	if v := p.Look(in); v.USD != 0 || v.Project {
		t.Errorf("%+v", v)
	}
	for _, text := range []string{"", "null", "[]", "7", "{", "\x00"} {
		if _, ok := hook.DecodeStatusLine([]byte(text)); ok {
			t.Errorf("%q is taken", text)
		}
	}
}
