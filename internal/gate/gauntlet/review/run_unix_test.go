//go:build unix

package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// stage is a machine with a repository and some reviewers, which are scripts.
type stage struct {
	t       *testing.T
	bin     string // what is on the PATH
	notes   string // where the scripts write
	request Request
	logs    logs
}

func newStage(t *testing.T, preference ...string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, bin: filepath.Join(dir, "bin"), notes: filepath.Join(dir, "notes")}
	s.request = Request{
		Gate:   gate,
		Review: &config.Review{Gate: config.Gate{Timeout: time.Minute}, Prompt: "Be strict.", CLIPreference: preference, NumReviews: 1},
		Diff:   []byte("+ open()\n"),
		Root:   filepath.Join(dir, "root"), StateDir: filepath.Join(dir, "state"),
		Environ: []string{"PATH=" + s.bin, "NOTES=" + s.notes},
		Now:     func() time.Time { return noon },
		Log:     s.logs.open,
	}
	for _, dir := range []string{s.bin, s.notes, s.request.Root} {
		check(t, os.MkdirAll(dir, 0o755))
	}
	return s
}

// install puts a reviewer on the PATH. It notes that it was asked, its arguments
// and environment, then does as the script says.
func (s *stage) install(program, script string) {
	s.t.Helper()
	const head = `#!/bin/sh
PATH=/usr/bin:/bin
me=${0##*/}
env >"$NOTES/$me.env"
echo "$me" >>"$NOTES/asked"
printf '%s\n' "$@" >"$NOTES/$me.args"
pwd >"$NOTES/$me.pwd"
`
	environtest.Program(s.t, filepath.Join(s.bin, program), head+script+"\n")
}

func say(text string) string { return "cat >/dev/null; cat <<'END'\n" + text + "\nEND" }

func (s *stage) run() []SlotResult { return Run(s.t.Context(), s.request) }

func (s *stage) one() SlotResult {
	s.t.Helper()
	results := s.run()
	if len(results) != 1 {
		s.t.Fatalf("%d results, want one", len(results))
	}
	return results[0]
}

func (s *stage) note(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.notes, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *stage) asked() []string { return strings.Fields(s.note("asked")) }

func (s *stage) cooling() []string {
	var out []string
	for name := range (quotas{s.request.StateDir}).load(noon) {
		out = append(out, name)
	}
	return out
}

func wantPass(t *testing.T, r SlotResult, adapter string) {
	t.Helper()
	if r.Err != nil || !r.Answer.Pass || r.Adapter != adapter {
		t.Errorf("got %+v, want a pass by %s", r, adapter)
	}
}

func wantNobody(t *testing.T, r SlotResult, words ...string) {
	t.Helper()
	if r.Err == nil {
		t.Fatalf("got %+v, want an error", r)
	}
	for _, word := range words {
		if !strings.Contains(r.Err.Error(), word) {
			t.Errorf("%q is not in %q", word, r.Err)
		}
	}
	if r.Answer.Pass || r.Answer.Violations != nil {
		t.Errorf("an answer without a reviewer: %+v", r.Answer)
	}
}

// logs keeps what reviewers print, by slot and adapter.
type logs struct {
	mu     sync.Mutex
	text   map[string]*bytes.Buffer
	closed int
}

func (l *logs) open(slot int, adapter string) io.WriteCloser {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == nil {
		l.text = map[string]*bytes.Buffer{}
	}
	b := &bytes.Buffer{}
	l.text[fmt.Sprintf("%s@%d", adapter, slot)] = b
	return logFile{b, l}
}

type logFile struct {
	*bytes.Buffer
	logs *logs
}

func (f logFile) Close() error {
	f.logs.mu.Lock()
	defer f.logs.mu.Unlock()
	f.logs.closed++
	return nil
}

func TestEachAdapter(t *testing.T) {
	envelope := func(fields string) string {
		return `{"type":"result","subtype":"success","is_error":false,` + fields + `}`
	}
	escaped := strings.ReplaceAll(failed, `"`, `\"`)
	tests := []struct {
		adapter, program, output string
		args                     []string
	}{
		{"claude", "claude", envelope(`"result":"x","structured_output":` + failed), []string{"-p", "disableAllHooks", "Read,Glob,Grep", "--json-schema", "--model=m"}},
		{"claude", "claude", envelope(`"result":"Here: ` + escaped + `"`), nil},
		{"claude", "claude", `{"type":"system"}` + "\n" + envelope(`"result":"","structured_output":`+failed), nil},
		{"claude", "claude", "It answers by itself:\n```json\n" + failed + "\n```", nil},
		{"codex", "codex", failed, []string{"exec", "--sandbox\nread-only", "project_doc_max_bytes=0", "--model=m\n-\n"}},
		{"gemini", "gemini", "Loaded cached credentials.\n```json\n" + failed + "\n```", []string{"--approval-mode\ndefault", "--model=m"}},
		{"github-copilot", "copilot", "● I read the files.\n\n" + failed, []string{"-s", "--no-custom-instructions", "--deny-tool\nwrite", "shell(cat)", "--model=m"}},
		{"cursor", "agent", failed, []string{"-p", "--mode\nask", "--trust", "--model=m"}},
	}
	for _, tt := range tests {
		t.Run(tt.adapter, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, tt.adapter)
			s.request.Review.Model = "m"
			s.install(tt.program, `cat >"$NOTES/prompt"; cat <<'END'`+"\n"+tt.output+"\nEND\necho progress >&2")
			r := s.one()
			if diff := cmp.Diff(Answer{Violations: []Violation{leak}}, r.Answer); r.Err != nil || diff != "" {
				t.Errorf("%v\n%s", r.Err, diff)
			}
			if got := s.note("prompt"); got != string(s.request.prompt()) {
				t.Errorf("prompted with %q", got)
			}
			for _, want := range tt.args {
				if got := s.note(tt.program + ".args"); !strings.Contains(got, want) {
					t.Errorf("%q is not in %q", want, got)
				}
			}
			root, err := filepath.EvalSymlinks(s.request.Root)
			check(t, err)
			if got := strings.TrimSpace(s.note(tt.program + ".pwd")); got != root && got != s.request.Root {
				t.Errorf("ran in %s", got)
			}
			if log := s.logs.text[tt.adapter+"@1"].String(); !strings.Contains(log, tt.output) || !strings.Contains(log, "progress\n") || s.logs.closed != 1 {
				t.Errorf("logged %q, closed %d times", log, s.logs.closed)
			}
			if r.Raw == "" || r.Slot != 1 || r.Tried != nil {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// A model belongs to the program that is preferred; another has its own.
func TestModelIsForThePreferredReviewer(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.request.Review.Model = "--opus"
	s.install("claude", "exit 1")
	s.install("codex", say(passed))
	wantPass(t, s.one(), "codex")
	if args := s.note("claude.args"); !strings.Contains(args, "\n--model=--opus\n") {
		t.Errorf("claude was called with %q", args)
	}
	if args := s.note("codex.args"); strings.Contains(args, "model") {
		t.Errorf("codex was called with %q", args)
	}
}

func TestReviewersEnvironment(t *testing.T) {
	t.Parallel()
	for _, a := range adapters {
		s := newStage(t, a.name)
		s.request.Environ = append(s.request.Environ, "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c")
		s.install(a.program, say(passed))
		wantPass(t, s.one(), a.name)
		got := strings.Split(s.note(a.program+".env"), "\n")
		for _, want := range []string{"STOPGATE_INSIDE=1", "GAUNTLET_STOP_HOOK_ACTIVE=1", "ANTHROPIC_API_KEY=k", "CLAUDE_CONFIG_DIR=/c"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s has no %s in %q", a.name, want, got)
			}
		}
		for _, unwanted := range []string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli"} {
			if slices.Contains(got, unwanted) {
				t.Errorf("%s has %s", a.name, unwanted)
			}
		}
	}
}

// The diff is the user's source: it goes to the reviewer's standard input alone.
func TestDiffGoesNowhereElse(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for _, a := range adapters {
		s := newStage(t, a.name)
		s.request.Diff = append(bytes.Repeat([]byte("+ 0123456789abcde\n"), 1<<16), "+ very-secret\n"...) // more than 1 MB
		s.request.Environ = append(s.request.Environ, "EVERYWHERE="+strings.Join([]string{s.request.Root, s.request.StateDir, tmp}, " "))
		s.install(a.program, `mkdir -p $EVERYWHERE; grep -rl very-secret $EVERYWHERE >"$NOTES/leaks"; wc -c >"$NOTES/size"; echo '`+passed+`'`)
		wantPass(t, s.one(), a.name)
		if got, want := strings.TrimSpace(s.note("size")), strconv.Itoa(len(s.request.prompt())); got != want {
			t.Errorf("%s read %s bytes, want %s", a.name, got, want)
		}
		for _, note := range []string{"leaks", a.program + ".args", a.program + ".env"} {
			if got := s.note(note); strings.Contains(got, "secret") || note == "leaks" && got != "" {
				t.Errorf("%s: the diff is in %s: %s", a.name, note, got)
			}
		}
	}
}

func TestReviewerThatDoesNotReadItsPrompt(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"at all":    "echo '" + passed + "'",
		"to an end": "head -c 10 >/dev/null; echo '" + passed + "'",
		"closes it": "exec 0<&-; echo '" + passed + "'",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "codex")
			s.request.Diff = bytes.Repeat([]byte("+ 0123456789abcde\n"), 1<<16)
			s.install("codex", script)
			wantPass(t, s.one(), "codex")
		})
	}
}

func TestNextReviewerTakesOver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, why string
		cooling           bool
	}{
		{"crash", "echo broken >&2; exit 3", "exit 3: broken", false},
		{"crash after an answer", say(passed) + "\nexit 1", "exit 1", false},
		{"killed", "kill -9 $$", "signal 9", false},
		{"nothing", "exit 0", "no JSON object", false},
		{"garbage", say("The change looks {good} to me."), "no JSON object", false},
		{"another answer", say(`{"verdict":"everything is fine"}`), "status: it is missing", false},
		{"binary", `head -c 100000 /dev/urandom`, "no ", false},
		{"quota, exit 1", "echo 'You have exceeded your usage limit.' >&2; exit 1", "out of quota: You have exceeded your usage limit.", true},
		{"quota, exit 0", say("Quota exceeded for today."), "out of quota", true},
		{"quota after some work", "echo reading; echo 'Error: credit balance is too low'; exit 1", "out of quota", true},
		{"quota in the client's words", say(`{"type":"result","subtype":"success","is_error":true,"result":"You've hit your session limit"}`) + "\nexit 1", "out of quota: You've hit your session limit", true},
		{"error in the client's words", say(`{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 no"}`) + "\nexit 1", "API Error: 400 no", false},
		{"not the quota", "echo 'Server is temporarily limiting requests (not your usage limit)'; exit 1", "exit 1", false},
		{"an echo of the prompt", "cat; exit 1", "exit 1", false},
		{"an echo of the diff", "grep 'usage limit'; exit 1", "exit 1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "claude", "codex")
			s.request.Diff = []byte("+ say(\"usage limit reached\")\n")
			s.install("claude", tt.script)
			s.install("codex", say(passed))
			r := s.one()
			wantPass(t, r, "codex")
			if len(r.Tried) != 1 || r.Tried[0].Adapter != "claude" || !strings.Contains(r.Tried[0].Why, tt.why) {
				t.Errorf("tried %+v, want %q", r.Tried, tt.why)
			}
			if got := slices.Contains(s.cooling(), "claude"); got != tt.cooling {
				t.Errorf("cooling down: %t", got)
			}
			if len(s.logs.text) != 2 || s.logs.closed != 2 {
				t.Errorf("%d logs, %d closed", len(s.logs.text), s.logs.closed)
			}
		})
	}
}

// A valid answer that talks about quotas is an answer.
func TestAnswerAboutUsageLimits(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.install("claude", say(`{"status":"pass","message":"the usage limit is handled; quota exceeded is caught"}`))
	wantPass(t, s.one(), "claude")
	if s.cooling() != nil {
		t.Errorf("%v cooling down", s.cooling())
	}
}

func TestUsedUpReviewerIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.install("claude", "echo 'usage limit reached'; exit 1")
	s.install("codex", say(passed))
	for range 2 {
		wantPass(t, s.one(), "codex")
	}
	if got, want := s.asked(), []string{"claude", "codex", "codex"}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
	s.install("claude", say(passed))
	s.request.Now = func() time.Time { return noon.Add(coolDown) }
	wantPass(t, s.one(), "claude")
}

func TestAllUsedUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.install("claude", "echo 'usage limit reached'; exit 1")
	s.install("codex", "echo 'quota exceeded'; exit 1")
	wantNobody(t, s.one(), "claude: out of quota: usage limit reached", "codex: out of quota: quota exceeded")
	s.request.Now = func() time.Time { return noon.Add(18 * time.Minute) }
	r := s.one()
	wantNobody(t, r, "claude: out of quota; asked again in 42m0s", "codex: ")
	if r.Adapter != "" || len(r.Tried) != 2 || len(s.asked()) != 2 {
		t.Errorf("got %+v after asking %v", r, s.asked())
	}
}

// Where nothing can be remembered the review still goes on.
func TestQuotaThatCannotBeRemembered(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	check(t, os.WriteFile(s.request.StateDir, nil, 0o600)) // a file in the place of the directory
	s.install("claude", "echo 'usage limit reached'; exit 1")
	s.install("codex", say(passed))
	r := s.one()
	wantPass(t, r, "codex")
	if !strings.Contains(r.Tried[0].Why, "could not be recorded") {
		t.Errorf("tried %+v", r.Tried)
	}
}

func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex", "some-other")
	s.install("codex", "exit 7")
	check(t, os.WriteFile(filepath.Join(s.bin, "claude"), []byte("no program"), 0o644))
	wantNobody(t, s.one(), "claude: claude is not installed", "codex: exit 7", "some-other: no such reviewer; known reviewers: claude,")

	s.request.Review.CLIPreference = nil
	wantNobody(t, s.one(), "no reviewer")
	s.request.Environ = nil
	s.request.Review.CLIPreference = []string{"codex"}
	wantNobody(t, s.one(), "codex is not installed")
}

// A program in the project must not be taken for a reviewer.
func TestRelativePathIsNotSearched(t *testing.T) {
	s := newStage(t, "claude")
	s.install("claude", say(passed))
	t.Chdir(s.bin)
	for _, path := range []string{".", "", "./", "../bin"} {
		s.request.Environ[0] = "PATH=" + path
		wantNobody(t, s.one(), "not installed")
	}
}

func TestTimeoutAsksTheNext(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.request.Review.Timeout = 100 * time.Millisecond
	s.request.Log = func(slot int, adapter string) io.WriteCloser {
		s.request.Review.Timeout = time.Minute // the next one has all the time it needs
		return s.logs.open(slot, adapter)
	}
	s.install("claude", "exec sleep 600")
	s.install("codex", say(passed))
	r := s.one()
	wantPass(t, r, "codex")
	if !strings.Contains(r.Tried[0].Why, "timed out after") || s.cooling() != nil {
		t.Errorf("tried %+v, cooling %v", r.Tried, s.cooling())
	}
}

// alive reports whether a process runs; one that is dead and not waited for does
// not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err != nil || !strings.HasPrefix(after, "Z")
}

// When the run's own time is over nobody else is asked, and nothing of the reviewer stays.
func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.install("claude", `sleep 600 & echo $! >"$NOTES/child"; cat >/dev/null; echo started >"$NOTES/started"; sleep 600`)
	s.install("codex", say(passed))
	over := errors.New("the deadline of the run")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(time.Minute); s.note("started") == "" && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(over)
	}()
	r := Run(ctx, s.request)[0]
	<-done
	wantNobody(t, r, "claude: was ended")
	if !errors.Is(r.Err, over) || !slices.Equal(s.asked(), []string{"claude"}) || len(r.Tried) != 1 || len(s.logs.text) != 1 {
		t.Errorf("%v after asking %v", r.Err, s.asked())
	}
	child, err := strconv.Atoi(strings.TrimSpace(s.note("child")))
	check(t, err)
	for end := time.Now().Add(time.Minute); alive(child); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d goes on", child)
		}
	}
}

func TestRoundRobin(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		s := newStage(t, "gemini", "claude", "cursor", "codex")
		s.request.Review.NumReviews, s.request.Review.Parallel = 5, parallel
		s.install("claude", say(passed))
		s.install("agent", "exit 1")
		s.install("codex", say(failed))
		var got []string
		for i, r := range s.run() {
			if r.Slot != i+1 || r.Err != nil {
				t.Errorf("%d: %+v", i, r)
			}
			got = append(got, fmt.Sprintf("%s %t", r.Adapter, r.Answer.Pass))
		}
		// gemini is not there; cursor's slots go on to codex.
		if want := []string{"claude true", "codex false", "codex false", "claude true", "codex false"}; !slices.Equal(got, want) {
			t.Errorf("parallel %t: got %v, want %v", parallel, got, want)
		}
	}
}

// Slots that run at the same time meet: each waits for the other.
func TestSlotsRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.request.Review.NumReviews, s.request.Review.Parallel = 2, true
	meet := `cat >/dev/null; touch "$NOTES/$me.here"; while ! test -e "$NOTES/claude.here" || ! test -e "$NOTES/codex.here"; do sleep 0.01; done; echo '` + passed + `'`
	s.install("claude", meet)
	s.install("codex", meet)
	for i, r := range s.run() {
		wantPass(t, r, []string{"claude", "codex"}[i])
	}
}

// One slot's bad luck spares the next: a quota is asked for once.
func TestQuotaFoundByAnotherSlot(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude", "codex")
	s.request.Review.NumReviews = 3
	s.install("claude", "echo 'usage limit reached'; exit 1")
	s.install("codex", say(passed))
	for _, r := range s.run() {
		wantPass(t, r, "codex")
		if len(r.Tried) > 1 {
			t.Errorf("tried %+v", r.Tried)
		}
	}
	if got, want := s.asked(), []string{"claude", "codex", "codex", "codex"}; !slices.Equal(got, want) {
		t.Errorf("asked %v, want %v", got, want)
	}
}

func TestReviewWithoutALog(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude")
	s.install("claude", say(passed))
	s.request.Log = nil
	wantPass(t, s.one(), "claude")
	s.request.Log = func(int, string) io.WriteCloser { return nil }
	wantPass(t, s.one(), "claude")
}

func TestFloodOfOutput(t *testing.T) {
	t.Parallel()
	s := newStage(t, "claude")
	s.request.Log = nil
	s.install("claude", `yes '{"a":' | head -c 10000000; printf '\n%s\n' '`+passed+`'`)
	r := s.one()
	wantPass(t, r, "claude")
	if len(r.Raw) > keepRaw {
		t.Errorf("%d bytes on record", len(r.Raw))
	}
}
