package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/process"
)

type step struct {
	event           hook.Event
	source, session string
	want            claim
}

func TestClaim(t *testing.T) {
	for name, steps := range map[string][]step{
		"an ordinary session": {
			{hook.SessionStart, "startup", "a", claim{"a", false}},
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.Stop, "", "a", claim{"a", true}},
			{hook.SessionEnd, "", "a", claim{}},
		},
		"a fork: its SessionStart has the old id": {
			{hook.SessionStart, "resume", "old", claim{"old", false}},
			{hook.UserPromptSubmit, "", "new", claim{"new", true}},
			{hook.SessionEnd, "", "new", claim{}},
		},
		"clear": {
			{hook.SessionStart, "startup", "a", claim{"a", false}},
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.SessionEnd, "", "a", claim{}},
			{hook.SessionStart, "clear", "b", claim{"b", false}},
			{hook.UserPromptSubmit, "", "b", claim{"b", true}},
		},
		"clear, and the end is not heard": {
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.SessionStart, "clear", "b", claim{"b", false}},
			{hook.SessionEnd, "", "a", claim{"b", false}},
		},
		"compact keeps the id": {
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.SessionStart, "compact", "a", claim{"a", true}},
			{hook.SessionStart, "compact", "x", claim{"a", true}},
		},
		"the agent's own client": {
			{hook.SessionStart, "startup", "a", claim{"a", false}},
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.SessionStart, "startup", "x", claim{"a", true}},
			{hook.UserPromptSubmit, "", "x", claim{"a", true}},
			{hook.SessionEnd, "", "x", claim{"a", true}},
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
		},
		"resume inside the client": {
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
			{hook.SessionEnd, "", "a", claim{}},
			{hook.SessionStart, "resume", "b", claim{"b", false}},
		},
		"a start that was not heard": {
			{hook.UserPromptSubmit, "", "a", claim{"a", true}},
		},
		"no id": {
			{hook.SessionStart, "startup", "", claim{}},
			{hook.UserPromptSubmit, "", "", claim{}},
			{hook.SessionEnd, "", "", claim{}},
		},
		"other events": {
			{hook.Stop, "", "a", claim{}},
			{hook.PreToolUse, "", "a", claim{}},
		},
	} {
		var c claim
		for i, s := range steps {
			if c = c.after(s.event, s.source, s.session); c != s.want {
				t.Errorf("%s: after step %d (%s %s): %+v, not %+v", name, i, s.event, s.session, c, s.want)
			}
		}
	}
}

func TestFollow(t *testing.T) {
	r := NewRegistry(t.TempDir())
	id := journal.NewID()
	if err := r.Follow(id, hook.SessionStart, "startup", "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such launch: %v", err)
	}
	must(t, r.store(id, record{Claude: process.Self(), Settings: "/s"}))
	if session, known := r.Session(id); known {
		t.Errorf("in session %q before any began", session)
	}
	for _, s := range []step{
		{event: hook.SessionStart, source: "resume", session: "old"},
		{event: hook.UserPromptSubmit, session: "new"},
		{event: hook.Stop, session: "new"},
	} {
		must(t, r.Follow(id, s.event, s.source, s.session))
	}
	if session, known := r.Session(id); !known || session != "new" {
		t.Errorf("in session %q, %t", session, known)
	}
	rec, err := r.load(id)
	if err != nil || rec.Settings != "/s" || rec.Claude != process.Self() {
		t.Errorf("the record became %+v, %v", rec, err)
	}
	must(t, r.Follow(id, hook.SessionEnd, "", "new"))
	if _, known := r.Session(id); known {
		t.Error("in a session that has ended")
	}
}

// Of many that send a prompt at once one gets the launch, and keeps it.
func TestFollowAtOnce(t *testing.T) {
	r := NewRegistry(t.TempDir())
	for range 20 {
		id := journal.NewID()
		must(t, r.store(id, record{Claude: process.Self()}))
		sessions := make([]string, 50)
		start := make(chan bool)
		var group sync.WaitGroup
		for i := range sessions {
			group.Go(func() {
				<-start
				if err := r.Follow(id, hook.UserPromptSubmit, "", string(rune('A'+i))); err != nil {
					t.Error(err)
				}
				sessions[i], _ = r.Session(id)
			})
		}
		close(start)
		group.Wait()
		for _, session := range sessions {
			if session != sessions[0] || session == "" {
				t.Fatalf("not one session: %q", sessions)
			}
		}
	}
}

func TestHostileIDs(t *testing.T) {
	state := t.TempDir()
	victim := write(t, `{"session":"a"}`, state, "victim.json")
	r := NewRegistry(filepath.Join(state, "inside"))
	must(t, os.MkdirAll(r.dir, 0o700))
	for _, id := range []string{
		"", ".", "..", "../../victim", "../../../../../../etc/passwd", "a\x00b", "01J\n", strings.Repeat("A", 10_000), strings.Repeat("ä", 13),
		"01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5/AV", "01ARZ3NDEKTSV4RRFFQ69G5U*V", `..\..\victim`,
	} {
		if err := r.Follow(id, hook.SessionStart, "clear", "x"); err == nil || errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "\x00") || len(err.Error()) > 100 {
			t.Errorf("%.40q: %v", id, err)
		}
		if session, known := r.Session(id); known || session != "" {
			t.Errorf("%.40q is in session %q", id, session)
		}
		if r.Nested(id) {
			t.Errorf("%.40q is nested", id)
		}
	}
	if got := read(t, victim); got != `{"session":"a"}` {
		t.Errorf("a file outside became %s", got)
	}
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) > 0 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

func TestSweep(t *testing.T) {
	r := NewRegistry(t.TempDir())
	gone := process.Self()
	gone.Boot = "another"
	living, dead, damaged := journal.NewID(), journal.NewID(), journal.NewID()
	for id, rec := range map[string]record{living: {Claude: process.Self(), Settings: "/a"}, dead: {Claude: gone, Settings: "/b"}} {
		must(t, r.store(id, rec))
	}
	write(t, "{", r.path(damaged))
	other := write(t, "{}", r.dir, "settings-0123.json")
	unreadable := journal.NewID()
	must(t, os.Mkdir(r.path(unreadable), 0o700))
	for settings, want := range map[string]bool{"/a": true, "/b": false, "/c": false} {
		if got := r.supervises(settings); got != want {
			t.Errorf("supervises(%s) = %t", settings, got)
		}
	}
	for path, want := range map[string]bool{r.path(living): true, r.path(dead): false, r.path(damaged): false, r.path(unreadable): true, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if NewRegistry(filepath.Join(r.dir, "none")).supervises("/a") {
		t.Error("supervised by nobody")
	}
}
