//go:build unix

package stop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/test/standin"
)

// reviewed is a scene whose client was started supervised, with a shell script in the
// reviewer's place.
type reviewed struct {
	*scene
	home     string
	reviewer *standin.Headless
}

const launchID = "01K9ZZZZZZZZZZZZZZZZZZZZZZ"

func newReviewed(t *testing.T, hooks string) *reviewed {
	t.Helper()
	r := &reviewed{scene: newScene(t, hooks), home: t.TempDir()}
	r.reviewer = standin.NewHeadless(t, r.at("claude"), r.home)
	r.env = append(r.env, "HOME="+r.home, "CCC_CLAUDE="+r.at("claude"), "CCC_SUPERVISOR=1", "CLAUDECODE=1")
	r.keepers = append(r.keepers, r.keeper())
	r.answers(true, "all there")
	return r
}

func (r *reviewed) at(name string) string { return filepath.Join(r.home, name) }

func (r *reviewed) set(entries ...string) { r.env = append(r.env, entries...) }

func (r *reviewed) unset(name string) {
	var rest []string
	for _, entry := range r.env {
		if !strings.HasPrefix(entry, name+"=") {
			rest = append(rest, entry)
		}
	}
	r.env = rest
}

func (r *reviewed) keeper() *supervisor.Keeper {
	return &supervisor.Keeper{StateDir: r.state, Now: func() time.Time { return r.now() }, Stderr: &r.stderr}
}

func (r *reviewed) acts(script string) { r.reviewer.Acts(script) }

func (r *reviewed) answers(completed bool, feedback string) {
	r.t.Helper()
	answer, err := json.Marshal(fields{"completed": completed, "feedback": feedback})
	check(r.t, err)
	r.reviewer.Answers(`{"type":"result","structured_output":` + string(answer) + `,"total_cost_usd":0.25}`)
}

func (r *reviewed) wantReviews(want int) {
	r.t.Helper()
	if got := r.reviewer.Calls(); got != want {
		r.t.Errorf("%d reviews, want %d\n%s", got, want, r.stderr.String())
	}
}

// switched is what a person says about the session.
func (r *reviewed) switched(on bool) {
	r.t.Helper()
	_, err := supervisor.At(r.at(".claude/ccc")).Update(r.t.Context(), "s1", r.now(), func(s *supervisor.State) error { s.Enabled = &on; return nil })
	check(r.t, err)
}

// alone is the answer of supervisor-hook.
func (r *reviewed) alone(stdin io.Reader) reply {
	r.t.Helper()
	service := r.service()
	service.Supervisor = r.keeper()
	got := reply{Reply: service.SupervisorHook(r.t.Context(), stdin)}
	if len(got.Stdout) > 0 {
		check(r.t, json.Unmarshal(got.Stdout, &got))
	}
	return got
}

func (r *reviewed) stops(extra fields) reply {
	r.t.Helper()
	return r.alone(bytes.NewReader(r.payload(hook.Stop, extra)))
}

func wantExactly(t *testing.T, got reply, stdout string) {
	t.Helper()
	if string(got.Stdout) != stdout || got.Stderr != "" || got.Code != 0 {
		t.Errorf("printed %q (%q, exit %d), want %q", got.Stdout, got.Stderr, got.Code, stdout)
	}
}

func TestSupervisorHook(t *testing.T) {
	r := newReviewed(t, "")
	r.answers(false, "test it")
	wantBlock(t, r.stops(nil), "test it")
	r.wantVerdict("supervisor", "failed", "not_completed")
	rec := r.answered()
	if v := rec.Verdicts[0]; rec.Decision != "block" || !v.Blocked || v.Cost.USD != 0.25 || strings.Contains(v.Message, "test it") {
		t.Errorf("the journal has %+v", rec)
	}
	r.answers(true, "all there")
	wantExactly(t, r.stops(nil), "{}\n")
	r.wantVerdict("supervisor", "passed", "completed")
	r.wantReviews(2)
}

// At the limit nothing is printed; the person is told in another way.
func TestSupervisorHookAtItsLimit(t *testing.T) {
	r := newReviewed(t, "")
	told := r.notify()
	appendFile(t, r.global, "supervisor: {max_iterations: 1}\n")
	r.answers(false, "test it")
	wantBlock(t, r.stops(nil), "test it")
	wantExactly(t, r.stops(nil), "")
	r.wantReviews(1)
	r.wantVerdict("supervisor", "failed", "limit_reached")
	if rec := r.answered(); rec.Decision != "allow" {
		t.Errorf("the journal says %s", rec.Decision)
	}
	eventually(t, "the person is told", func() bool {
		text, _ := os.ReadFile(told)
		return strings.HasPrefix(string(text), "1|"+r.root+": ") && strings.Contains(string(text), "max_iterations")
	})
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	old, err := os.ReadFile(path)
	check(t, err)
	write(t, path, string(old)+text)
}

func TestSupervisorHookThatCannotReview(t *testing.T) {
	r := newReviewed(t, "")
	r.acts("exit 3")
	got := r.stops(nil)
	wantAllow(t, got, "stopgate: the work was not reviewed: claude ended without a result (exit 3)")
	r.wantVerdict("supervisor", "could_not_run", "unavailable")
	got = r.stops(fields{"session_id": "../x"})
	wantAllow(t, got, "stopgate: ", `the session id "../x"`)
	r.wantVerdict("supervisor", "could_not_run", "bad_session")
	r.wantReviews(1)
}

// A reviewer's own stop: to the letter, whoever started it, and nothing is read.
func TestSupervisorHookInsideAReview(t *testing.T) {
	for _, entry := range []string{"CCC_SUPERVISOR_HOOK=1", "STOPGATE_INSIDE=1"} {
		r := newReviewed(t, "")
		r.set(entry)
		wantExactly(t, r.alone(iotest.ErrReader(errors.New("read"))), `{"decision":"","":""}`+"\n")
		r.wantReviews(0)
		if len(r.records()) != 0 {
			t.Error("it is in the journal")
		}
	}
	r := newReviewed(t, "")
	r.set("CCC_SUPERVISOR_HOOK=0")
	wantExactly(t, r.stops(nil), "{}\n")
	r.wantReviews(1)
}

func TestSupervisorHookOfBadInput(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin io.Reader
		want  string
	}{
		"empty":         {strings.NewReader(""), ""},
		"garbage":       {strings.NewReader("\x00\xff{"), ""},
		"no object":     {strings.NewReader(`["a"]`), ""},
		"a wrong type":  {strings.NewReader(`{"session_id":"s1","stop_hook_active":"yes"}`), "stop_hook_active"},
		"read error":    {iotest.ErrReader(errors.New("gone")), "gone"},
		"far too large": {io.LimitReader(endless{}, 1<<30), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewed(t, "")
			wantAllow(t, r.alone(tt.stdin), "stopgate: supervisor: nothing was reviewed: ", tt.want)
			r.wantReviews(0)
			r.wantVerdict("protocol", "could_not_run", "invalid_payload")
		})
	}
}

// endless is a payload that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSupervisorHookOfALongMessage(t *testing.T) {
	r := newReviewed(t, "")
	wantExactly(t, r.stops(fields{"last_assistant_message": strings.Repeat("Done. ", 1<<20)}), "{}\n")
	r.wantReviews(1)
}

// What the supervisor does not need may be missing.
func TestSupervisorHookOfALeanPayload(t *testing.T) {
	r := newReviewed(t, "")
	wantExactly(t, r.alone(strings.NewReader(`{"session_id":"s1"}`)), "{}\n")
	r.wantReviews(1)
}

// Whose stops are reviewed, by the hook alone and in the chain.
func TestWhoIsSupervised(t *testing.T) {
	launched := func(session string) func(r *reviewed) {
		return func(r *reviewed) {
			write(r.t, filepath.Join(r.state, "launches", launchID+".json"), fmt.Sprintf(`{"client":{"pid":%d},"session":%q}`, os.Getpid(), session))
			r.set(launch.IDVariable + "=" + launchID)
		}
	}
	for name, tt := range map[string]struct {
		prepare      func(r *reviewed)
		extra        fields
		alone, chain int
	}{
		"started supervised":            {func(*reviewed) {}, nil, 1, 1},
		"not started supervised":        {func(r *reviewed) { r.unset("CCC_SUPERVISOR") }, nil, 0, 0},
		"another value":                 {func(r *reviewed) { r.set("CCC_SUPERVISOR=yes") }, nil, 0, 0},
		"an empty value":                {func(r *reviewed) { r.set("CCC_SUPERVISOR=") }, nil, 0, 0},
		"by hand":                       {func(r *reviewed) { r.unset("CCC_SUPERVISOR"); r.unset("CLAUDECODE") }, nil, 1, 0},
		"by hand, with another value":   {func(r *reviewed) { r.set("CCC_SUPERVISOR=0"); r.unset("CLAUDECODE") }, nil, 0, 0},
		"a subagent":                    {func(*reviewed) {}, fields{"agent_id": "a1"}, 0, 0},
		"switched off":                  {func(r *reviewed) { r.switched(false) }, nil, 0, 0},
		"switched on":                   {func(r *reviewed) { r.unset("CCC_SUPERVISOR"); r.switched(true) }, nil, 1, 1},
		"switched on, against a value":  {func(r *reviewed) { r.set("CCC_SUPERVISOR=0"); r.switched(true) }, nil, 1, 1},
		"the session of the launch":     {launched("s1"), nil, 1, 1},
		"not the session of the launch": {launched("other"), nil, 0, 0},
		"no session known":              {launched(""), nil, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewed(t, "")
			tt.prepare(r)
			wantExactly(t, r.stops(tt.extra), "{}\n")
			r.wantReviews(tt.alone)
			r = newReviewed(t, "")
			tt.prepare(r)
			wantAllow(t, r.stop(tt.extra))
			r.wantReviews(tt.chain)
		})
	}
}

// The chain follows the launched client from session to session, without a project
// and while it is off.
func TestChainFollowsTheLaunch(t *testing.T) {
	r := newReviewed(t, "")
	write(t, filepath.Join(r.state, "launches", launchID+".json"), "{}")
	r.set(launch.IDVariable + "=" + launchID)
	start := func(session, source string) {
		t.Helper()
		r.call(hook.SessionStart, fields{"session_id": session, "source": source, "prompt_id": nil})
	}
	start("s1", "startup")
	r.stop(nil)
	r.wantReviews(1)
	r.stop(fields{"session_id": "s2"})
	r.wantReviews(1)
	start("s2", "clear")
	r.stop(fields{"session_id": "s2"})
	r.wantReviews(2)
	r.stop(fields{"last_assistant_message": "again"})
	r.wantReviews(2)
	r.config("hooks: {}\n")
	check(t, Recess{Root: r.root, Since: time.Now(), Until: time.Now().Add(time.Hour)}.Begin(r.state))
	start("s3", "clear")
	check(t, Recess{Root: r.root}.Begin(r.state))
	r.stop(fields{"session_id": "s3"})
	r.wantReviews(3)
}

func TestSupervisorStandsAsideWhileOff(t *testing.T) {
	r := newReviewed(t, "  Stop:\n    - {run: 'true'}\n")
	check(t, Recess{Root: r.root, Since: time.Now(), Until: time.Now().Add(time.Hour), Why: "lunch"}.Begin(r.state))
	wantAllow(t, r.stops(nil), "stopgate: off in this project until ", "(lunch)")
	r.wantVerdict("off", "could_not_run", "off")
	wantAllow(t, r.stop(nil), "stopgate: off in this project until ", "(lunch)")
	r.wantReviews(0)
	check(t, Recess{Root: r.root}.Begin(r.state))
	wantExactly(t, r.stops(nil), "{}\n")
	r.wantReviews(1)
}

// Neither an untrusted nor a broken project is without its supervisor, which is the
// person's own.
func TestSupervisorNeedsNoProject(t *testing.T) {
	for name, prepare := range map[string]func(r *reviewed){
		"none":      func(*reviewed) {},
		"untrusted": func(r *reviewed) { r.enforce(); r.config("hooks:\n" + failing) },
		"broken":    func(r *reviewed) { r.config("hooks: 7\n") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewed(t, "")
			prepare(r)
			r.answers(false, "test it")
			wantBlock(t, r.stop(nil), "test it")
			wantBlock(t, r.stops(nil), "test it")
			r.wantReviews(2)
		})
	}
}

// Red gates come first: no review is paid for.
func TestSupervisorAfterTheGuard(t *testing.T) {
	r := newReviewed(t, failing)
	wantBlock(t, r.stop(nil), "fix it")
	r.wantReviews(0)
	r.config("hooks:\n  Stop:\n    - {run: 'true'}\n")
	r.answers(false, "test it")
	wantBlock(t, r.stop(nil), "test it")
	r.wantReviews(1)
}

// Where the unified hook is in force, that has the stop reviewed.
func TestSupervisorHookBesideTheUnifiedHook(t *testing.T) {
	entry := func(command string) string {
		return `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + command + `"}]}]}}`
	}
	for name, tt := range map[string]struct {
		file, text string
		reviews    int
	}{
		"the project's":      {".claude/settings.json", entry("stopgate hook Stop"), 0},
		"the person's own":   {".claude/settings.local.json", entry("stopgate hook Stop"), 0},
		"only ours":          {".claude/settings.json", entry("stopgate supervisor-hook"), 1},
		"another program's":  {".claude/settings.json", entry("other hook Stop"), 1},
		"that is no JSON":    {".claude/settings.json", entry("stopgate hook Stop")[1:], 1},
		"with hooks all off": {".claude/settings.json", `{"disableAllHooks":true,` + entry("stopgate hook Stop")[1:], 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewed(t, "")
			write(t, r.path(tt.file), tt.text)
			wantExactly(t, r.stops(nil), "{}\n")
			r.wantReviews(tt.reviews)
			// The agent has gone elsewhere; the client was started here.
			r.set("CLAUDE_PROJECT_DIR=" + r.root)
			wantExactly(t, r.stops(fields{"cwd": t.TempDir(), "prompt_id": "p2"}), "{}\n")
			r.wantReviews(2 * tt.reviews)
		})
	}
}

// Newer clients take the person's own settings from the main worktree, too.
func TestSupervisorHookBesideTheUnifiedHookOfTheMainWorktree(t *testing.T) {
	r := newReviewed(t, "")
	write(t, r.path(".claude/settings.local.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop"}]}]}}`)
	write(t, r.path(".git/worktrees/linked/commondir"), "../..\n")
	linked := t.TempDir()
	write(t, filepath.Join(linked, ".git"), "gitdir: "+r.path(".git/worktrees/linked")+"\n")
	r.set("CLAUDE_PROJECT_DIR=" + linked)
	wantExactly(t, r.stops(nil), "{}\n")
	r.wantReviews(0)
}

// The hooks of a project that the agent went to are not those of its client.
func TestSupervisorHookInAnotherProject(t *testing.T) {
	r := newReviewed(t, "")
	other := t.TempDir()
	write(t, filepath.Join(other, ".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop"}]}]}}`)
	r.set("CLAUDE_PROJECT_DIR=" + r.root)
	wantExactly(t, r.stops(fields{"cwd": other}), "{}\n")
	r.wantReviews(1)
}

// The time for a review is what the installed entry leaves.
func TestSupervisorHookHasADeadline(t *testing.T) {
	r := newReviewed(t, "")
	write(t, r.path(".claude/settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ccc supervisor-hook","timeout":20}]}]}}`)
	start := time.Now()
	r.now = func() time.Time { return start }
	r.acts("exec sleep 600")
	wantAllow(t, r.stops(nil), "the work was not reviewed: claude was ended after")
}

// Whatever panics, the client gets an answer that allows.
func TestSupervisorHookThatPanics(t *testing.T) {
	r := newReviewed(t, "")
	service := r.service()
	service.Supervisor = &supervisor.Keeper{StateDir: r.state, Now: func() time.Time { panic("no clock") }, Stderr: &r.stderr}
	got := reply{Reply: service.SupervisorHook(t.Context(), bytes.NewReader(r.payload(hook.Stop, nil)))}
	check(t, json.Unmarshal(got.Stdout, &got))
	wantAllow(t, got, "stopgate: supervisor: internal error: no clock")
	if !strings.Contains(r.stderr.String(), "panicked: no clock") {
		t.Error(r.stderr.String())
	}
	r.wantReviews(0)
}

// A journal that cannot be written is told, and changes nothing.
func TestSupervisorHookWithoutAJournal(t *testing.T) {
	r := newReviewed(t, "")
	write(t, filepath.Join(r.state, "journal"), "a file")
	wantAllow(t, r.stops(nil), "stopgate: ", "journal")
	r.answers(false, "test it")
	wantBlock(t, r.stops(nil), "test it")
	r.wantReviews(2)
}

// What is wrong with the global config is said: a limit in it does not hold.
func TestSupervisorHookWithABrokenGlobalConfig(t *testing.T) {
	r := newReviewed(t, "")
	write(t, r.global, "supervisor: {max_cost_usd: a lot}\n")
	r.stops(nil)
	if !strings.Contains(r.stderr.String(), "max_cost_usd") {
		t.Errorf("said %s", r.stderr.String())
	}
}

// watcher is a keeper that only looks.
type watcher struct {
	aside
	seen *[]hook.Event
}

func (w watcher) Witness(call *keeper.Call) { *w.seen = append(*w.seen, call.Event()) }

// A witness sees every call: outside a project, where nothing may act, and those that
// it has no say in.
func TestWitnessesSeeEverything(t *testing.T) {
	s := newScene(t, "")
	var seen []hook.Event
	s.keepers = []keeper.Keeper{watcher{seen: &seen}}
	s.call(hook.SessionStart, fields{"source": "startup"})
	s.stop(nil)
	s.config("hooks: 7\n")
	s.call(hook.PreToolUse, nil)
	check(t, Recess{Root: s.root, Since: time.Now(), Until: time.Now().Add(time.Hour)}.Begin(s.state))
	s.call(hook.SessionEnd, fields{"reason": "clear"})
	if fmt.Sprint(seen) != "[SessionStart Stop PreToolUse SessionEnd]" {
		t.Errorf("saw %v", seen)
	}
	s.env = append(s.env, "STOPGATE_INSIDE=1")
	s.stop(nil)
	if len(seen) != 4 {
		t.Error("saw the stop of a reviewer")
	}
}

// While it is off nobody is asked, also not those who need no project.
func TestNobodyIsAskedWhileOff(t *testing.T) {
	s := newScene(t, "")
	asked := 0
	s.keepers = []keeper.Keeper{stub{"any", func(context.Context, *keeper.Call) keeper.Verdict { asked++; return keeper.Verdict{} }}}
	s.stop(nil)
	s.config("hooks: {}\n")
	check(t, Recess{Root: s.root, Since: time.Now(), Until: time.Now().Add(time.Hour)}.Begin(s.state))
	s.stop(nil)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}
