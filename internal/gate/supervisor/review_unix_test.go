//go:build unix

package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/git/gittest"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/test/standin"
)

// desk is a session in a repository, and a shell script in the reviewer's place.
type desk struct {
	t        *testing.T
	repo     *gittest.Repo
	dir      string // ours: ccc.json, SUPERVISOR.md, the script and what it was given
	reviewer *standin.Headless
	stop     Stop
	stderr   bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, repo: gittest.New(t), dir: gittest.Dir(t)}
	d.repo.Write("a.go", "package a\n")
	d.repo.Commit("begin")
	d.stop = Stop{
		Payload: &hook.StopPayload{
			Base:                 hook.Base{SessionID: someSession, PromptID: "p1", CWD: d.repo.Dir, TranscriptPath: recorded(t, user(t, "write it"), said(t, "It is written."))},
			LastAssistantMessage: "It is written.",
		},
		Environ: append(slices.Clone(d.repo.Env), "CCC_CONFIG_DIR="+d.dir, "CCC_CLAUDE="+d.path("claude")),
	}
	d.reviewer = standin.NewHeadless(t, d.path("claude"), d.dir)
	d.answers(result(true, "all there"))
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	check(d.t, os.WriteFile(d.path(name), []byte(text), 0o600))
}

// acts says what the reviewer does, after it has written down what it was given.
func (d *desk) acts(script string) { d.reviewer.Acts(script) }

func (d *desk) answers(lines ...string) { d.reviewer.Answers(lines...) }

// given is what the reviewer was given last.
func (d *desk) given(what string) string {
	d.t.Helper()
	return checktest.Read(d.t, d.reviewer.Note(d.calls(), what))
}

// calls is how often the reviewer was asked.
func (d *desk) calls() int { return d.reviewer.Calls() }

// prompt is what the reviewer was told.
func (d *desk) prompt() string {
	d.t.Helper()
	args := strings.Split(strings.TrimSuffix(d.given("args"), "\x00"), "\x00")
	if args[len(args)-2] == "--json-schema" {
		return d.given("stdin")
	}
	return args[len(args)-1]
}

func (d *desk) keeper() *Keeper {
	return &Keeper{StateDir: d.path("state"), Now: time.Now, Stderr: &d.stderr}
}

func (d *desk) decide() Decision {
	d.t.Helper()
	return d.keeper().Decide(d.t.Context(), d.stop)
}

func (d *desk) decides(want Status) Decision {
	d.t.Helper()
	got := d.decide()
	if got.Status != want {
		d.t.Fatalf("decided %+v, want %s\n%s", got, want, d.stderr.String())
	}
	return got
}

func (d *desk) files() Dir { return At(d.path("ccc")) }

func (d *desk) state() State {
	d.t.Helper()
	return readState(d.t, d.files(), someSession)
}

func (d *desk) plant(change func(*State)) {
	d.t.Helper()
	update(d.t, d.files(), someSession, change)
}

// result is the last line of a reviewer's stream.
func result(completed bool, feedback string) string {
	text, _ := json.Marshal(map[string]any{
		"type": "result", "subtype": "success", "result": "ignored",
		"structured_output": map[string]any{"completed": completed, "feedback": feedback},
		"total_cost_usd":    0.25,
		"usage":             map[string]any{"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
	})
	return string(text)
}

var resultCost = Cost{USD: 0.25, InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheCreationTokens: 4}

func TestDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		script string // of the reviewer; $1 is a result that allows
		want   Decision
	}{
		"complete":                 {`echo "$1"`, Decision{Status: Completed, Cost: resultCost}},
		"complete, then it hangs":  {`echo "$1"; exec sleep 600`, Decision{Status: Completed, Cost: resultCost}},
		"complete, then it fails":  {`echo "$1"; exit 3`, Decision{Status: Completed, Cost: resultCost}},
		"complete, no line end":    {`printf %s "$1"`, Decision{Status: Completed, Cost: resultCost}},
		"the first result counts":  {`echo "$1"; echo '{"type":"result","is_error":true,"result":"late"}'`, Decision{Status: Completed, Cost: resultCost}},
		"lines that are no JSON":   {`echo oops; echo '{"type":"result"'; echo "$1"`, Decision{Status: Completed, Cost: resultCost}},
		"not complete":             {`echo '{"type":"result","structured_output":{"completed":false,"feedback":"test it"}}'`, Decision{Status: NotCompleted, Feedback: "test it"}},
		"words":                    {`echo '{"type":"result","result":"Not yet."}'`, Decision{Status: NotCompleted, Feedback: "Not yet."}},
		"no words":                 {`echo '{"type":"result","result":""}'`, Decision{Status: NotCompleted, Feedback: defaultFeedback}},
		"a cost that is none":      {`echo '{"type":"result","result":"","total_cost_usd":-7}'`, Decision{Status: NotCompleted, Feedback: defaultFeedback}},
		"an error of the API":      {`echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529","total_cost_usd":0.5}'`, Decision{Status: Unavailable, Message: "the work was not reviewed: the reviewer failed: API Error: 529", Cost: Cost{USD: 0.5}}},
		"too many turns":           {`echo '{"type":"result","subtype":"error_max_turns"}'`, Decision{Status: Unavailable, Message: "the work was not reviewed: the reviewer failed: error_max_turns: no reason given"}},
		"nothing":                  {`exit 0`, Decision{Status: Unavailable, Message: "the work was not reviewed: claude ended without a result (exit 0)"}},
		"no result and last words": {`echo first >&2; echo "no such session" >&2; exit 3`, Decision{Status: Unavailable, Message: "the work was not reviewed: claude ended without a result (exit 3): no such session"}},
		"crash":                    {`kill -SEGV $$`, Decision{Status: Unavailable, Message: "the work was not reviewed: claude ended without a result (was ended by signal 11 (segmentation fault))"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.write("stream", result(true, "all there"))
			d.acts(`set -- "$(cat '` + d.path("stream") + `')"; ` + tt.script)
			tt.want.Iteration, tt.want.Limit = 1, 10
			if diff := cmp.Diff(tt.want, d.decide()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			s, answered := d.state(), tt.want.Status != Unavailable
			if s.Count != 1 || s.Spent != tt.want.Cost || (s.Last != nil) != answered || (s.Reviews == 1) != answered {
				t.Errorf("the state is %+v", s)
			}
		})
	}
}

func TestReviewIsRecorded(t *testing.T) {
	d := newDesk(t)
	d.answers(result(false, "test it"))
	now := noon
	k := &Keeper{StateDir: d.path("state"), Stderr: &d.stderr, Now: func() time.Time { now = now.Add(time.Second); return now }}
	k.Decide(t.Context(), d.stop)
	s := d.state()
	if s.Last == nil || s.Last.DurationMS <= 0 || !s.Last.At.After(noon) {
		t.Fatalf("recorded %+v", s.Last)
	}
	s.Last.At, s.Last.DurationMS = time.Time{}, 0
	want := &Review{PromptID: "p1", Feedback: "test it", Status: "not_completed", Cost: resultCost}
	if diff := cmp.Diff(want, s.Last); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text, err := os.ReadFile(d.files().OutputFile(someSession)); err != nil || string(text) != result(false, "test it")+"\n" {
		t.Errorf("kept %s, %v", text, err)
	}
}

// Each check comes before those that cost more.
func TestOrderOfChecks(t *testing.T) {
	spent := func(s *State) { s.Spent.USD = 1 }
	exhausted := func(s *State) { s.Count, s.PromptID = 10, "p1" }
	for name, tt := range map[string]struct {
		prepare func(d *desk)
		want    Status
		message string
		count   int // of the state then; -1: there is none
	}{
		"session, before anything is written": {func(d *desk) { d.stop.Payload.SessionID = "../x" }, BadSession, `the session id "../x" has characters other than`, -1},
		"budget, before the limit":            {func(d *desk) { d.stop.Global.MaxCost = new(1.0); d.plant(spent); d.plant(exhausted) }, BudgetSpent, "$1.00 of the $1.00 that max_cost_usd allows", 10},
		"budget, before it is counted":        {func(d *desk) { d.stop.Global.MaxCost = new(0.5); d.plant(spent) }, BudgetSpent, "$1.00 of the $0.50", 0},
		"limit, before the client is found":   {func(d *desk) { d.plant(exhausted); check(d.t, os.Remove(d.path("claude"))) }, LimitReached, "max_iterations", 10},
		"count, before the client is found":   {func(d *desk) { check(d.t, os.Remove(d.path("claude"))) }, Unavailable, "CCC_CLAUDE: ", 1},
		"a little is left of the budget":      {func(d *desk) { d.stop.Global.MaxCost = new(1.01); d.plant(spent) }, Completed, "", 1},
		"no budget":                           {func(d *desk) { d.plant(spent) }, Completed, "", 1},
		"one is left of the limit":            {func(d *desk) { d.plant(exhausted); d.plant(func(s *State) { s.Count-- }) }, Completed, "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tt.prepare(d)
			got := d.decides(tt.want)
			if !strings.Contains(got.Message, tt.message) || (got.Message == "") != (tt.message == "") {
				t.Errorf("said %q", got.Message)
			}
			if reviewed := tt.want == Completed; (d.calls() == 1) != reviewed {
				t.Errorf("%d reviews", d.calls())
			}
			if exists(d.files().StateFile(someSession)) != (tt.count >= 0) || tt.count >= 0 && d.state().Count != tt.count {
				t.Errorf("the state is %+v, want a count of %d", d.state(), tt.count)
			}
		})
	}
}

// ccc.json comes before the global config; what is wrong with it costs no review.
func TestSettingsOfReviews(t *testing.T) {
	for name, tt := range map[string]struct {
		own   string
		limit int
		warns string
	}{
		"none":           {"", 7, ""},
		"its own":        {`{"supervisor":{"max_iterations":3}}`, 3, ""},
		"no JSON":        {`{`, 7, "warning: "},
		"a wrong type":   {`{"supervisor":{"max_iterations":"3"}}`, 7, "max_iterations"},
		"faulty outside": {`{"providers":7,"supervisor":{"max_iterations":3}}`, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.stop.Global.MaxIterations = new(7)
			if tt.own != "" {
				d.write("ccc.json", tt.own)
			}
			if got := d.decides(Completed); got.Limit != tt.limit {
				t.Errorf("the limit is %d", got.Limit)
			}
			log := logText(t, d.files())
			if warned := strings.Contains(log, " warning "); warned != (tt.warns != "") || !strings.Contains(d.stderr.String(), tt.warns) {
				t.Errorf("warned %t: %s%s", warned, log, d.stderr.String())
			}
		})
	}
}

// A series goes to its limit and ends; a new prompt begins another.
func TestSeries(t *testing.T) {
	d := newDesk(t)
	d.stop.Global.MaxIterations = new(2)
	d.answers(result(false, "more"))
	for i := range 2 {
		if got := d.decides(NotCompleted); got.Iteration != i+1 || got.Limit != 2 {
			t.Errorf("%+v", got)
		}
	}
	told := ""
	for i := range 3 {
		if got := d.decides(LimitReached); got.Iteration != 2 || got.Feedback != "" || got.Again != (i > 0) {
			t.Errorf("%+v", got)
		}
		if text := stateText(t, d.files(), someSession); i == 0 {
			told = text
		} else if text != told {
			t.Errorf("nothing has changed, and %sbecame %s", told, text)
		}
	}
	if s := d.state(); s.Count != 2 || s.Reviews != 2 {
		t.Errorf("%+v", s)
	}
	d.stop.Payload.PromptID = "p2"
	if got := d.decides(NotCompleted); got.Iteration != 1 {
		t.Errorf("%+v", got)
	}
	if d.calls() != 3 {
		t.Errorf("%d reviews", d.calls())
	}
	d.decides(NotCompleted)
	if got := d.decides(LimitReached); got.Again {
		t.Error("the person does not hear of the second series")
	}
}

func TestPreviousFeedbackIsTold(t *testing.T) {
	d := newDesk(t)
	d.answers(result(false, "fix the parser"))
	d.decides(NotCompleted)
	if strings.Contains(d.prompt(), "What the last review asked for") {
		t.Error("there was no review before")
	}
	d.answers(result(true, "very good"))
	d.decides(Completed)
	if prompt := d.prompt(); !strings.Contains(prompt, "fix the parser") || !strings.Contains(prompt, "This is review 2 of at most 10") {
		t.Error(prompt)
	}
	d.decides(Completed)
	if strings.Contains(d.prompt(), "very good") {
		t.Error("praise is told as a demand")
	}
}

func TestInstructions(t *testing.T) {
	const own, other = "Be strict, says the file.", "Be kind, says the other."
	big := strings.Repeat("x", 2<<20)
	for name, tt := range map[string]struct {
		prepare    func(d *desk)
		promptFile string
		want       string
		warns      string
	}{
		"none":                          {func(*desk) {}, "", Builtin(), ""},
		"SUPERVISOR.md":                 {func(d *desk) { d.write("SUPERVISOR.md", own) }, "", own, ""},
		"blank":                         {func(d *desk) { d.write("SUPERVISOR.md", " \n\t\n") }, "", Builtin(), ""},
		"a link":                        {func(d *desk) { d.write("x.md", own); check(d.t, os.Symlink("x.md", d.path("SUPERVISOR.md"))) }, "", own, ""},
		"a link to nothing":             {func(d *desk) { check(d.t, os.Symlink("x.md", d.path("SUPERVISOR.md"))) }, "", Builtin(), ""},
		"a pipe":                        {func(d *desk) { check(d.t, syscall.Mkfifo(d.path("SUPERVISOR.md"), 0o600)) }, "", Builtin(), "SUPERVISOR.md is not a regular file"},
		"a directory":                   {func(d *desk) { check(d.t, os.Mkdir(d.path("SUPERVISOR.md"), 0o700)) }, "", Builtin(), "SUPERVISOR.md is not a regular file"},
		"2 MB":                          {func(d *desk) { d.write("SUPERVISOR.md", big) }, "", Builtin(), "SUPERVISOR.md is larger than 1048576 bytes"},
		"as large as may be":            {func(d *desk) { d.write("SUPERVISOR.md", big[:1<<20]) }, "", big[:1<<20], ""},
		"begins like a flag":            {func(d *desk) { d.write("SUPERVISOR.md", "--help me") }, "", "--help me", ""},
		"a NUL, as in UTF-16":           {func(d *desk) { d.write("SUPERVISOR.md", "B\x00e\x00") }, "", "B\x00e", ""},
		"prompt_file beside ccc.json":   {func(d *desk) { d.write("x.md", own); d.write("SUPERVISOR.md", other) }, "x.md", own, ""},
		"prompt_file anywhere":          {func(d *desk) { check(d.t, os.WriteFile(d.repo.Path("x.md"), []byte(own), 0o600)) }, "ABSOLUTE/x.md", own, ""},
		"prompt_file missing":           {func(d *desk) { d.write("SUPERVISOR.md", other) }, "x.md", other, "x.md: no such file"},
		"prompt_file and all missing":   {func(*desk) {}, "x.md", Builtin(), "x.md: no such file"},
		"prompt_file blank":             {func(d *desk) { d.write("x.md", "\n"); d.write("SUPERVISOR.md", other) }, "x.md", other, ""},
		"prompt_file that is no file":   {func(*desk) {}, ".", Builtin(), "not a regular file"},
		"prompt_file with a parent dir": {func(d *desk) { check(d.t, os.Mkdir(d.path("sub"), 0o700)); d.write("x.md", own) }, "sub/../x.md", own, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tt.prepare(d)
			d.stop.Global.PromptFile = strings.Replace(tt.promptFile, "ABSOLUTE", d.repo.Dir, 1)
			d.decides(Completed)
			prompt := d.prompt()
			if !strings.HasPrefix(prompt, strings.TrimSpace(tt.want)) || !strings.Contains(prompt, "\n\n# Facts for this review\n") || !strings.HasSuffix(prompt, contract) {
				t.Errorf("told %.200q…", prompt)
			}
			said := d.stderr.String()
			if strings.Contains(said, "warning: ") != (tt.warns != "") || !strings.Contains(said, tt.warns) || !strings.Contains(logText(t, d.files()), tt.warns) {
				t.Errorf("said %s", said)
			}
		})
	}
}

// The client finds a session only from where it was started.
func TestWhereTheReviewerRuns(t *testing.T) {
	d := newDesk(t)
	started := gittest.Dir(t)
	for _, tt := range []struct{ projectDir, cwd, want string }{
		{started, d.repo.Dir, started},
		{"", d.repo.Dir, d.repo.Dir},
		{d.path("missing"), d.repo.Dir, d.repo.Dir},
		{d.path("claude"), d.repo.Dir, d.repo.Dir}, // a file
		{"", d.path("missing"), ""},
		{"", "", ""},
	} {
		d.stop.Environ = append(d.stop.Environ, "CLAUDE_PROJECT_DIR="+tt.projectDir)
		d.stop.Payload.CWD = tt.cwd
		d.decides(Completed)
		if tt.want == "" {
			here, err := filepath.EvalSymlinks(must(os.Getwd()))
			check(t, err)
			tt.want = here
		}
		if got := strings.TrimSuffix(d.given("cwd"), "\n"); got != tt.want {
			t.Errorf("%+v: ran in %s", tt, got)
		}
	}
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

func TestEnvironmentOfTheReviewer(t *testing.T) {
	d := newDesk(t)
	d.stop.Environ = append(d.stop.Environ,
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=x", "CLAUDE_PROJECT_DIR="+d.repo.Dir, "AI_AGENT=x",
		"CCC_SUPERVISOR=1", "ANTHROPIC_BASE_URL=http://x", claude.SupervisorVariable+"=0")
	d.decides(Completed)
	given := strings.Split(d.given("env"), "\x00")
	for _, want := range []string{claude.InsideVariable + "=1", claude.SupervisorVariable + "=1", claude.ActiveVariable + "=1", "ANTHROPIC_BASE_URL=http://x", "CCC_CONFIG_DIR=" + d.dir} {
		if !slices.Contains(given, want) {
			t.Errorf("%s is not in %q", want, given)
		}
	}
	for _, name := range []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR", "AI_AGENT"} {
		if _, there := environ.Lookup(given, name); there {
			t.Errorf("%s is there", name)
		}
	}
	if slices.Contains(given, claude.SupervisorVariable+"=0") {
		t.Error("the guard is there twice")
	}
}

// Of the client's folders above the project the reviewer reads the person's own.
func TestReviewerHasThePersonsMemory(t *testing.T) {
	d := newDesk(t)
	above := filepath.Dir(d.repo.Dir)
	for dir, want := range map[string]bool{filepath.Join(above, ".claude"): true, d.dir: false} {
		d.stop.Environ = append(d.stop.Environ, "CLAUDE_CONFIG_DIR="+dir)
		d.decides(Completed)
		args := d.given("args")
		if got := !strings.Contains(args, `"`+above+`/.claude/**"`); got != want || !strings.Contains(args, `"`+d.repo.Dir+`/**"`) {
			t.Errorf("with %s: %q", dir, args)
		}
	}
}

// A long prompt is no argument: the system would refuse it.
func TestLongPromptIsRead(t *testing.T) {
	d := newDesk(t)
	d.write("SUPERVISOR.md", strings.Repeat("Be strict. ", 20_000))
	d.decides(Completed)
	if text := d.given("stdin"); !strings.HasPrefix(text, "Be strict. ") || !strings.HasSuffix(text, contract) {
		t.Errorf("read %.200q…", text)
	}
	if strings.Contains(d.given("args"), "Be strict.") {
		t.Error("it is an argument as well")
	}
}

// What the reviewer says is seen; no secret is seen anywhere.
func TestSecretsOfAReview(t *testing.T) {
	const secret = "sk-ant-0123456789"
	for name, script := range map[string]string{
		"in its words":             `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"I have SECRET"}]}}'; echo '{"type":"result","result":"use SECRET"}'`,
		"escaped":                  `printf '%s\n' '{"type":"result","result":"use \u0073k-ant-0123456789"}'`,
		"in its error":             `echo '{"type":"result","is_error":true,"result":"bad key SECRET"}'`,
		"on standard error":        `echo "bad key SECRET" >&2`,
		"colored":                  `printf 'bad key sk-ant-\033[1m0123456789\n' >&2`,
		"where the log is cut":     `printf '%0290d SECRET\n' 0 >&2`,
		"where the feedback is":    `printf '{"type":"result","result":"%0290d SECRET"}\n' 0`,
		"on several lines of both": `echo SECRET; echo SECRET >&2; echo '{"type":"result","structured_output":{"completed":false,"feedback":"SECRET"}}'`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.stop.Environ = append(d.stop.Environ, "ANTHROPIC_API_KEY="+secret)
			d.acts(strings.ReplaceAll(script, "SECRET", secret))
			got := d.decide()
			texts := map[string]string{"decision": fmt.Sprintf("%+v", got), "stderr": d.stderr.String()}
			for _, name := range fileNames(t, d.files()) {
				text, err := os.ReadFile(d.files().join(name))
				check(t, err)
				texts[name] = string(text)
			}
			for where, text := range texts {
				if strings.Contains(text, "sk-ant-0") {
					t.Errorf("%s: %s", where, text)
				}
			}
			if !strings.Contains(texts["decision"]+texts["stderr"]+texts[logName], hidden) {
				t.Errorf("nothing was hidden: %q", texts)
			}
		})
	}
}

// Why there is no review is told without secrets, too.
func TestSecretsInReasons(t *testing.T) {
	const secret = "sk-ant-0123456789"
	for name, prepare := range map[string]func(d *desk){
		"the session":  func(d *desk) { d.stop.Payload.SessionID = "../" + secret },
		"the client":   func(d *desk) { d.stop.Environ = append(d.stop.Environ, "CCC_CLAUDE=/none/"+secret) },
		"of two lines": func(d *desk) { d.acts("printf 'first-\\nsecond-half\\n' >&2; exit 1") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.stop.Environ = append(d.stop.Environ, "ANTHROPIC_API_KEY="+secret, "PRIVATE_KEY=first-\nsecond-half")
			prepare(d)
			got := d.decide()
			for _, text := range []string{got.Message, d.stderr.String(), logText(t, d.files())} {
				if strings.Contains(text, secret) || strings.Contains(text, "second-half") || !strings.Contains(text, hidden) {
					t.Errorf("%+v: %s", got, text)
				}
			}
		})
	}
}

func TestReasonIsBounded(t *testing.T) {
	d := newDesk(t)
	d.acts(`printf '{"type":"result","is_error":true,"result":"%09999d"}\n' 0`)
	if got := d.decides(Unavailable); len(got.Message) > 400 || !strings.HasSuffix(got.Message, "0…") {
		t.Errorf("%d bytes: %s", len(got.Message), got.Message)
	}
}

func TestFeedbackForTheAgentIsBounded(t *testing.T) {
	d := newDesk(t)
	d.answers(result(false, "begin "+strings.Repeat("€", 5<<20)+" end"))
	got := d.decides(NotCompleted)
	if n := len([]rune(got.Feedback)); n > maxReason || n < maxReason/2 || !strings.HasPrefix(got.Feedback, "begin") || !strings.HasSuffix(got.Feedback, "end") {
		t.Errorf("%d characters: %.40s…", n, got.Feedback)
	}
	if n := len(stateText(t, d.files(), someSession)); n > maxState/2 {
		t.Errorf("the state has %d bytes", n)
	}
}

// wantDead demands that the process whose number the reviewer wrote down is gone.
func (d *desk) wantDead() {
	d.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(d.given("pid")))
	check(d.t, err)
	if process.StartTime(pid) != "" {
		d.t.Errorf("process %d still runs", pid)
	}
}

func TestReviewThatTakesTooLong(t *testing.T) {
	d := newDesk(t)
	d.acts("exec sleep 600")
	d.stop.Global.Timeout = new(100 * time.Millisecond)
	got := d.decides(Unavailable)
	if !strings.HasPrefix(got.Message, "the work was not reviewed: claude timed out after ") || got.Iteration != 1 {
		t.Errorf("%+v", got)
	}
}

// The hook's own time is over, or the client ends it: the reviewer ends too.
func TestReviewThatIsCutOff(t *testing.T) {
	d := newDesk(t)
	check(t, syscall.Mkfifo(d.path("started"), 0o600))
	d.acts(`sleep 600 & echo $! >"$call/pid"; : >'` + d.path("started") + `'; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		if pipe, err := os.Open(d.path("started")); err == nil { // waits for the script
			pipe.Close()
		}
	}()
	got := d.keeper().Decide(ctx, d.stop)
	if got.Status != Unavailable || !strings.Contains(got.Message, "claude was ended after") {
		t.Errorf("%+v", got)
	}
	d.wantDead()
	if s := d.state(); s.Count != 1 || s.Last != nil {
		t.Errorf("%+v", s)
	}
	if log := logText(t, d.files()); !strings.Contains(log, " could not review session_id=abc123 ") {
		t.Error(log)
	}
}

// What was paid for is kept, even when the hook's time is over in that moment.
func TestVerdictAfterTheTimeIsKept(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := d.keeper().session(d.stop)
	check(t, err)
	cancel()
	s.record(ctx, func(s *State) { s.Record(Review{Feedback: "kept"}) })
	if got := d.state(); got.Reviews != 1 || got.Last.Feedback != "kept" {
		t.Errorf("%+v", got)
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := d.keeper().Decide(ctx, d.stop); got.Status != Unavailable || !strings.Contains(got.Message, "count the review: ") || d.calls() != 0 {
		t.Errorf("%+v, %d reviews", got, d.calls())
	}
}

// Where nothing can be written nothing is counted, and nothing would end a loop.
func TestStateThatCannotBeKept(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(d *desk)
		message string
	}{
		"a file in place of the directory": {func(d *desk) { d.write("ccc", "") }, "not a directory"},
		"a loop of links":                  {func(d *desk) { check(d.t, os.Symlink("ccc", d.path("ccc"))) }, "count the review: "},
		"a link in place of the lock": {func(d *desk) {
			check(d.t, os.Mkdir(d.path("ccc"), 0o700))
			check(d.t, os.Symlink("x", d.files().lockFile(someSession)))
		}, "lock the supervisor's state"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tt.prepare(d)
			if got := d.decides(Unavailable); !strings.Contains(got.Message, tt.message) || d.calls() != 0 {
				t.Errorf("%+v, %d reviews", got, d.calls())
			}
		})
	}
}

// An answer counts, whether or not it could be kept.
func TestOutputThatCannotBeKept(t *testing.T) {
	d := newDesk(t)
	check(t, os.MkdirAll(d.files().OutputFile(someSession), 0o700))
	d.decides(Completed)
	if said := d.stderr.String(); !strings.Contains(said, "warning: open the file for the review: ") {
		t.Error(said)
	}
}

// A log that cannot be written changes nothing but a warning.
func TestLogThatCannotBeWritten(t *testing.T) {
	d := newDesk(t)
	check(t, os.MkdirAll(d.files().LogFile(), 0o700))
	d.decides(Completed)
	if said := d.stderr.String(); !strings.Contains(said, "warning: write the supervisor's log: ") {
		t.Error(said)
	}
}

func init() { children["decide"] = childDecide }

// childDecide decides when no file may be longer than 6000 bytes, as on a disk that is
// almost full.
func childDecide(args []string) error {
	if err := processtest.LimitFiles(6000); err != nil {
		return err
	}
	k := &Keeper{StateDir: args[0], Now: time.Now, Stderr: os.Stderr}
	d := k.Decide(context.Background(), Stop{
		Payload: &hook.StopPayload{Base: hook.Base{SessionID: someSession, PromptID: "p1", CWD: args[0], TranscriptPath: args[1]}},
		Environ: os.Environ(), Global: config.Supervisor{},
	})
	fmt.Printf("%s: %s%s\n", d.Status, d.Feedback, d.Message)
	return nil
}

// The verdict holds although nothing more can be written down.
func TestFullDiskDuringAReview(t *testing.T) {
	d := newDesk(t)
	d.write("stream", result(false, "test it"+strings.Repeat("!", 5700))+"\n")
	d.acts("ulimit -f unlimited 2>/dev/null; exec cat '" + d.path("stream") + "'")
	d.plant(func(s *State) { s.PromptID = "p1" })
	check(t, os.WriteFile(d.files().OutputFile(someSession), []byte(strings.Repeat("x", 5900)+"\n"), 0o600))
	cmd := processtest.Child(t, "decide", d.dir, "")
	cmd.Env = append(cmd.Env, d.stop.Environ...)
	cmd.Stderr = &d.stderr
	out, err := cmd.Output()
	check(t, err)
	if !strings.HasPrefix(string(out), "not_completed: test it!") {
		t.Errorf("decided %s\n%s", out, d.stderr.String())
	}
	if said := d.stderr.String(); !strings.Contains(said, "warning: write the supervisor's state: ") {
		t.Errorf("said %s", said)
	}
	if s := d.state(); s.Damaged || s.Count != 1 || s.Last != nil {
		t.Errorf("%+v", s)
	}
	if log := logText(t, d.files()); !strings.Contains(log, "-output.jsonl: file too large") {
		t.Error(log)
	}
}
