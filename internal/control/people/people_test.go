package people

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

// scene is a notifier and what can be seen of it.
type scene struct {
	*Notifier
	mu      sync.Mutex
	ways    config.Notify
	broken  error    // what is wrong with the configuration
	missing error    // the desktop
	shown   []string // on the desktop
	trouble []string // as it was told
}

func newScene(t *testing.T, ways config.Notify) *scene {
	t.Helper()
	s := &scene{ways: ways}
	s.Notifier = New(Options{
		Config:   func() (config.Notify, error) { return s.ways, s.broken },
		StateDir: t.TempDir(), Desktop: s,
		Trouble: func(err error) {
			text := "well"
			if err != nil {
				text = err.Error()
			}
			s.trouble = append(s.trouble, text)
		},
	})
	return s
}

func (s *scene) Missing() error { return s.missing }

func (s *scene) Show(title, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, title+"\n"+text)
	return nil
}

func (s *scene) want(t *testing.T, trouble ...string) {
	t.Helper()
	if diff := cmp.Diff(trouble, s.trouble); diff != "" {
		t.Error(diff)
	}
}

func general(w config.Ways) config.Notify { return config.Notify{Ways: w} }

func hook(r *receiver, token string) string {
	return "generic://" + r.host() + "/" + token + "?disabletls=yes"
}

func TestAllWaysAtOnce(t *testing.T) {
	one, other := receive(t), receive(t)
	address := hook(one, "token")
	s := newScene(t, general(config.Ways{Desktop: true, URLs: []string{address, hook(other, "x"), address}}))
	check(t, s.Notify(t.Context(), decided))
	whole := "Agent needs attention: fix\n" + decidedBody
	if diff := cmp.Diff([][]string{{whole}, {"POST /token\n" + whole}, {"POST /x\n" + whole}}, [][]string{s.shown, one.read(), other.read()}); diff != "" {
		t.Error(diff)
	}
	s.want(t)
}

// A way that fails keeps no other from being used, and is seen until it is taken again.
func TestTroubleUntilTheNextSuccess(t *testing.T) {
	good, bad := receive(t), receive(t)
	bad.answer(http.StatusForbidden)
	s := newScene(t, general(config.Ways{URLs: []string{hook(good, "x"), hook(bad, "secret-token")}}))
	for range 2 {
		check(t, s.Notify(t.Context(), decided))
	}
	why := "generic://" + bad.host() + ": failed to send notification to generic webhook: server returned unexpected response status code: 403 Forbidden"
	s.want(t, why)

	good.answer(http.StatusForbidden) // now nobody is told
	err := s.Notify(t.Context(), decided)
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Count(err.Error(), "403 Forbidden") != 2 {
		t.Errorf("it says %v", err)
	}
	good.answer(http.StatusOK)
	bad.answer(http.StatusOK)
	check(t, s.Notify(t.Context(), decided))
	s.want(t, why, err.Error(), "well")
	if a, b := len(good.read()), len(bad.read()); a != 4 || b != 4 {
		t.Errorf("%d and %d requests: each message is sent once", a, b)
	}
}

// What nobody uses any more is no trouble.
func TestTroubleOfAWayThatIsNotUsed(t *testing.T) {
	bad := receive(t)
	bad.answer(http.StatusForbidden)
	s := newScene(t, general(config.Ways{URLs: []string{hook(bad, "x")}}))
	if s.Notify(t.Context(), decided) == nil {
		t.Error("it was sent")
	}
	s.ways = config.Notify{}
	check(t, s.Notify(t.Context(), decided))
	if len(s.trouble) != 2 || s.trouble[1] != "well" {
		t.Errorf("trouble: %q", s.trouble)
	}
}

// That there is no desktop is told once, and no message fails of it.
func TestNoDesktop(t *testing.T) {
	s := newScene(t, general(config.Ways{Desktop: true}))
	s.missing = absence("there is no desktop here")
	s.Check()
	s.want(t, "desktop: there is no desktop here")
	for range 3 {
		check(t, s.Notify(t.Context(), decided))
	}
	s.want(t, "desktop: there is no desktop here")
	s.missing = nil
	check(t, s.Notify(t.Context(), decided))
	s.want(t, "desktop: there is no desktop here", "well")
	if len(s.shown) != 1 {
		t.Errorf("shown: %q", s.shown)
	}
}

// Beside a desktop that is not there, a service that fails is all there is.
func TestNoDesktopAndNobodyElse(t *testing.T) {
	bad := receive(t)
	bad.answer(http.StatusForbidden)
	s := newScene(t, general(config.Ways{Desktop: true, URLs: []string{hook(bad, "x")}}))
	s.missing = absence("there is no desktop here")
	if err := s.Notify(t.Context(), decided); err == nil || strings.Contains(err.Error(), "desktop") {
		t.Errorf("it says %v", err)
	}
}

func TestCheckWhereNoDesktopIsWanted(t *testing.T) {
	s := newScene(t, config.Notify{Projects: []config.ProjectNotify{{Path: "/p", Desktop: ptr(true), Muted: true}}})
	s.missing = absence("there is no desktop here")
	s.Check()
	s.want(t)
}

func TestMuted(t *testing.T) {
	r := receive(t)
	s := newScene(t, config.Notify{
		Ways:     config.Ways{URLs: []string{hook(r, "x")}, Quiet: config.Quiet{From: 0, To: 24*60 - 1}},
		Projects: []config.ProjectNotify{{Path: "/quiet", Muted: true}},
	})
	m := decided
	m.Project = "/quiet/project"
	check(t, s.Notify(t.Context(), m))
	if held := s.Held(m.Project, time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)); held != 0 || len(r.read()) != 0 {
		t.Errorf("held for %v, sent %q", held, r.read())
	}
}

func TestHeld(t *testing.T) {
	s := newScene(t, config.Notify{
		Ways:     config.Ways{Quiet: config.Quiet{From: 22 * 60, To: 7 * 60}},
		Projects: []config.ProjectNotify{{Path: "/urgent", Quiet: &config.Quiet{}}},
	})
	night := time.Date(2026, 6, 1, 23, 30, 0, 0, time.UTC)
	for project, want := range map[string]time.Duration{"/p": 7*time.Hour + 30*time.Minute, "/urgent": 0, "/urgent/x": 0} {
		if got := s.Held(project, night); got != want {
			t.Errorf("%s is held for %v", project, got)
		}
	}
	s.broken = errors.New("no")
	if got := s.Held("/p", night); got != 0 {
		t.Errorf("held for %v by a configuration that cannot be read", got)
	}
}

func TestConfigurationThatCannotBeRead(t *testing.T) {
	r := receive(t)
	s := newScene(t, general(config.Ways{URLs: []string{hook(r, "x")}}))
	s.broken = errors.New("config.yml:1: nonsense\nconfig.yml:2: more")
	if err := s.Notify(t.Context(), decided); err == nil || err.Error() != "config.yml:1: nonsense config.yml:2: more" {
		t.Errorf("it says %v", err)
	}
	s.broken = nil
	check(t, s.Notify(t.Context(), decided))
	s.want(t, "config.yml:1: nonsense config.yml:2: more", "well")
}

// Somebody who does not answer is given up after a while, and left alone when that
// happens again and again.
func TestSlowWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, config.Notify{})
		answer := make(chan struct{})
		hang := func(context.Context) error { <-answer; return nil }
		begun := time.Now()
		for range mostStuck {
			if err := s.within(t.Context(), byCommand, hang); err != errSlow {
				t.Errorf("it says %v", err)
			}
		}
		if took := time.Since(begun); took != mostStuck*limit {
			t.Errorf("it took %v", took)
		}
		refused := func(context.Context) error { t.Error("it was tried"); return nil }
		if err := s.within(t.Context(), byCommand, refused); err == nil || err == errSlow {
			t.Errorf("it says %v", err)
		}
		well := func(context.Context) error { return nil }
		check(t, s.within(t.Context(), onDesktop, well)) // it is another's
		close(answer)
		synctest.Wait()
		check(t, s.within(t.Context(), byCommand, well))
	})
}

// The next message waits for a way that hangs only as long as nobody has got this one.
func TestAWayThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, config.Notify{})
		begun, late := time.Now(), deliveries{}
		later := func(o deliveries) { late = o }
		hangs := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		well := func(context.Context) error { return nil }
		got := s.send(t.Context(), map[way]sending{byCommand: well, onDesktop: hangs}, later)
		if took := time.Since(begun); took != courtesy || len(got) != 1 || got.failure() != nil {
			t.Errorf("after %v: %v", took, got)
		}
		time.Sleep(limit)
		synctest.Wait()
		if len(late) != 1 || !errors.Is(late[onDesktop], errSlow) {
			t.Errorf("later: %v", late)
		}
		begun = time.Now()
		if got = s.send(t.Context(), map[way]sending{onDesktop: hangs}, nil); time.Since(begun) != limit || got.failure() == nil {
			t.Errorf("after %v: %v", time.Since(begun), got)
		}
	})
}

func TestDaemonThatStopsDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, config.Notify{})
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan struct{})
		time.AfterFunc(time.Second, cancel)
		err := s.within(ctx, byCommand, func(context.Context) error { <-answer; return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it says %v", err)
		}
		close(answer)
	})
}

// What a library makes of a strange answer must not end the daemon, nor show a token.
func TestPanics(t *testing.T) {
	s := newScene(t, config.Notify{})
	err := s.within(t.Context(), byCommand, func(context.Context) error { panic("secret") })
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

// A hundred messages at once each arrive once.
func TestManyAtOnce(t *testing.T) {
	r := receive(t)
	s := newScene(t, general(config.Ways{Desktop: true, URLs: []string{hook(r, "x")}}))
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := s.Notify(context.Background(), decided); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if a, b := len(r.read()), len(s.shown); a != 100 || b != 100 {
		t.Errorf("%d and %d arrived", a, b)
	}
}
