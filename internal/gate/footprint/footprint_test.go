package footprint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

var (
	noon  = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	one   = process.Identity{PID: 1000, Start: "1", Boot: "b"}
	other = process.Identity{PID: 1000, Start: "2", Boot: "b"} // the number was used again
)

func update(t *testing.T, s Store, id string, caller process.Identity, change func(*Session)) {
	t.Helper()
	check(t, s.Update(id, Beginning{Caller: caller}, noon, change))
}

func nothing(*Session) {}

func TestE13ClearResumeAndForkInheritTheSession(t *testing.T) {
	t.Run("a new id of the same client, as after /clear", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", one, func(s *Session) {
			s.Visit("/p")
			s.SetTree("/p", func(t *Tree) { t.Baseline, t.Red = "tree", true })
			s.Prompts, s.ByPerson = 2, 1
		})
		update(t, s, "b", one, nothing)
		got := s.Load("b")
		want := &Session{
			ID: "b", Origin: "a", Began: noon, Callers: []process.Identity{one}, Prompts: 2, ByPerson: 1,
			Roots: []string{"/p"}, Trees: map[string]Tree{"/p": {Baseline: "tree", Red: true}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if got.Prompt() != s.Load("a").Prompt() {
			t.Error("a cleared conversation looks like a person's new prompt")
		}
		update(t, s, "b", one, func(s *Session) { s.SetTree("/p", func(t *Tree) { t.Red = false }) })
		if !s.Load("a").Trees["/p"].Red {
			t.Error("they share a tree")
		}
	})
	t.Run("a fork, which begins under the old id", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", one, func(s *Session) { s.Visit("/p") })
		update(t, s, "a", other, nothing) // its SessionStart
		update(t, s, "fork", other, nothing)
		update(t, s, "cleared", one, nothing) // the first client goes on
		for _, id := range []string{"fork", "cleared"} {
			if got := s.Load(id); !slices.Equal(got.Roots, []string{"/p"}) || got.Origin != "a" {
				t.Errorf("%s: %+v", id, got)
			}
		}
	})
	t.Run("where no client is known, by its word and the project", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", process.Identity{}, func(s *Session) { s.Visit("/p") })
		for id, by := range map[string]Beginning{"cleared": {GoesOn: true, Root: "/p"}, "started": {Root: "/p"}, "elsewhere": {GoesOn: true, Root: "/q"}} {
			check(t, s.Update(id, by, noon, nothing))
			if inherits := s.Load(id).Origin == "a"; inherits != (id == "cleared") {
				t.Errorf("%s inherits: %t", id, inherits)
			}
		}
	})
	t.Run("not of a session whose client is known", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", one, func(s *Session) { s.Visit("/p") })
		check(t, s.Update("b", Beginning{GoesOn: true, Root: "/p"}, noon, nothing))
		if got := s.Load("b").Origin; got != "b" {
			t.Errorf("it goes on from %s", got)
		}
	})
	t.Run("not of one that has been silent for too long", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", one, nothing)
		past := noon.Add(-maxAge - time.Hour)
		check(t, os.Chtimes(s.path("a"), past, past))
		update(t, s, "b", one, nothing)
		if got := s.Load("b").Origin; got != "b" {
			t.Errorf("it goes on from %s", got)
		}
	})
	t.Run("another client is another session", func(t *testing.T) {
		s := NewStore(t.TempDir())
		update(t, s, "a", one, func(s *Session) { s.Visit("/p") })
		update(t, s, "b", other, nothing)
		update(t, s, "c", process.Identity{}, nothing)
		for _, id := range []string{"b", "c"} {
			if got := s.Load(id); len(got.Roots) > 0 || got.Origin != id {
				t.Errorf("%s: %+v", id, got)
			}
		}
	})
}

func TestWhatIsDamagedIsNotKnown(t *testing.T) {
	dir := t.TempDir()
	s := NewStore(dir)
	update(t, s, "a", one, nothing)
	for _, text := range []string{"", "{", `{"id":"b"}`, "null", "\x00"} {
		check(t, os.WriteFile(s.path("a"), []byte(text), 0o600))
		if got := s.Load("a"); got != nil {
			t.Errorf("%q: %+v", text, got)
		}
		update(t, s, "a", one, func(s *Session) { s.Visit("/p") })
		if got := s.Load("a"); got == nil || len(got.Roots) != 1 {
			t.Errorf("%q: afterwards %+v", text, got)
		}
	}
	if err := s.Update("", Beginning{}, noon, nothing); err == nil {
		t.Error("the session has no id was kept")
	}
	update(t, s, "../../../escape\n", one, nothing)
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Errorf("files %q", files)
	}
}

func TestManyHooksLoseNothing(t *testing.T) {
	s := NewStore(t.TempDir())
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			if err := s.Update("a", Beginning{Caller: one}, noon, func(s *Session) { s.Visit(fmt.Sprint("/", i)); s.Prompts++ }); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if got := s.Load("a"); len(got.Roots) != 20 || got.Prompts != 20 {
		t.Errorf("%+v", got)
	}
}

func TestVisitsAndClientsAreBounded(t *testing.T) {
	var s Session
	for i := range 200 {
		s.Visit(fmt.Sprint("/", i))
		s.Visit(fmt.Sprint("/", i))
		s.Stray(fmt.Sprint("/", i))
		s.RunBy(process.Identity{PID: i + 1})
	}
	s.Schedule(append(slices.Repeat([]string{"go on"}, 2*maxScheduled), strings.Repeat("x", maxPrompt+1)))
	if len(s.Scheduled) != maxScheduled {
		t.Errorf("%d prompts are scheduled", len(s.Scheduled))
	}
	if s.Schedule([]string{strings.Repeat("x", maxPrompt+1), "go on"}); !slices.Equal(s.Scheduled, []string{"go on"}) {
		t.Errorf("%d prompts are scheduled, and one is too long to be told", len(s.Scheduled))
	}
	if len(s.Strange) != maxRoots || s.Strange[0] != "/0" {
		t.Errorf("%d never approved: %q", len(s.Strange), s.Strange)
	}
	if len(s.Roots) != maxRoots || s.Roots[0] != "/0" || s.Roots[maxRoots-1] != "/199" {
		t.Errorf("%d roots: %q", len(s.Roots), s.Roots)
	}
	if len(s.Callers) != maxCallers || s.Callers[maxCallers-1].PID != 200 {
		t.Errorf("clients %+v", s.Callers)
	}
}

func TestPruneForgetsWhatIsSilent(t *testing.T) {
	s := NewStore(t.TempDir())
	update(t, s, "old", one, nothing)
	update(t, s, "new", other, nothing)
	past := time.Now().Add(-maxAge - time.Hour)
	check(t, os.Chtimes(s.path("old"), past, past))
	s.Prune(time.Now())
	if s.Load("old") != nil || s.Load("new") == nil {
		t.Error("pruned the wrong one")
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if want := []string{s.path("new"), s.path("new") + ".lock"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("left are %q, want %q", files, want)
	}
}

// What the session itself has worked in, also under an older id, is not another one's.
func TestRootsOfOtherSessions(t *testing.T) {
	s := NewStore(t.TempDir())
	update(t, s, "a", one, func(s *Session) { s.Visit("/ours") })
	update(t, s, "b", one, nothing)
	update(t, s, "c", other, func(s *Session) { s.Visit("/theirs") })
	if got := s.Claimed(s.Load("b").Origin, time.Time{}); !slices.Equal(got, []string{"/theirs"}) {
		t.Errorf("got %q", got)
	}
}

// A session that has ended, or whose turn has, claims nothing of what is done later.
func TestE13WhoClaimsAProject(t *testing.T) {
	for name, tt := range map[string]struct {
		client process.Identity
		judged bool
		after  bool // it was heard of after the moment
		claims bool
	}{
		"at work":                                 {process.Self(), false, false, true},
		"at work, of a client that is not known":  {process.Identity{}, false, false, true},
		"its turn has ended":                      {process.Self(), true, false, false},
		"its turn has ended since":                {process.Self(), true, true, true},
		"its client has ended":                    {one, false, false, false},
		"its client has ended since":              {one, false, true, true},
		"its turn has ended, and then its client": {one, true, false, false},
	} {
		s := NewStore(t.TempDir())
		update(t, s, "a", tt.client, func(s *Session) { s.Visit("/p"); s.Judged = tt.judged })
		since := time.Now().Add(time.Minute)
		if tt.after {
			since = time.Now().Add(-time.Minute)
		}
		if got := s.Claimed("b", since); slices.Contains(got, "/p") != tt.claims {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestPromptOfNothing(t *testing.T) {
	var none *Session
	if none.Prompt() != "" || (&Session{Origin: "a"}).Prompt() != "" {
		t.Error("a prompt that nobody wrote")
	}
}

func TestTheLatestCommitsThatWereMadeAreKept(t *testing.T) {
	var s Session
	var want []string
	for i := range maxMade + 2 {
		commit := strconv.Itoa(i)
		s.Commit([]string{commit, commit})
		s.Commit([]string{commit})
		want = append(want, commit)
	}
	if want = want[2:]; !slices.Equal(s.Made, want) {
		t.Errorf("%q, want %q", s.Made, want)
	}
}

func TestTheLatestCommitsThatPassedAreKept(t *testing.T) {
	var s Session
	s.Pass("")
	var want []string
	for i := range maxPassed + 2 {
		head := strconv.Itoa(i)
		s.Pass(head)
		s.Pass(head)
		want = append(want, head)
	}
	if want = want[2:]; !slices.Equal(s.Passed, want) {
		t.Errorf("%q, want %q", s.Passed, want)
	}
}
