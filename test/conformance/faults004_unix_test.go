//go:build unix

package conformance

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// offspring is what a reviewer starts and leaves behind: a child that holds its output
// open and, where the system has setsid, one that leaves its process group. Both are
// noted in runs.
const offspring = `echo $$ >> "$RUNS"
sleep 600 & echo $! >> "$RUNS"
command -v setsid > /dev/null && setsid sh -c 'echo $$ >> "$RUNS"; exec sleep 600' &
until test $(wc -l < "$RUNS") -ge 3 || ! command -v setsid > /dev/null; do sleep 0.01; done
`

func TestSupervisorReviewerThatFails(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("很长 long ", 5<<20/12)
	for name, tt := range map[string]struct {
		acts    string
		stream  []string
		words   []string // of the message, where nobody could judge
		allowed bool
		feeds   string
	}{
		"crashes at once":           {acts: "echo 'no login' >&2; exit 1", words: []string{"no login", "without a result", "exit 1"}},
		"crashes in a line":         {acts: `printf '{"type":"resu'; exit 2`, words: []string{"without a result", "exit 2"}},
		"is killed":                 {acts: "kill -9 $$", words: []string{"without a result", "signal"}},
		"says nothing, exit 0":      {acts: "exit 0", words: []string{"without a result"}},
		"ends without a result":     {stream: []string{initLine, saysLine}, words: []string{"without a result"}},
		"hangs":                     {acts: "sleep 600", words: []string{"timed out"}},
		"hangs and ignores TERM":    {acts: "trap '' TERM INT HUP; sleep 600; sleep 600", words: []string{"timed out"}},
		"an error of the API":       {stream: []string{initLine, `{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded","session_id":"s"}`}, words: []string{"API Error: 529 overloaded"}},
		"no such session":           {stream: []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: abc123"]}`}, words: []string{"No conversation found"}},
		"out of turns":              {stream: []string{`{"type":"result","subtype":"error_max_turns","is_error":false,"result":""}`}, words: []string{"error_max_turns"}},
		"answers prose":             {stream: []string{initLine, textResult("Please write the tests.")}, feeds: "Please write the tests."},
		"a line of 5 MB, then no":   {stream: []string{`{"type":"user","content":"` + long + `"}`, verdictLine(false, "go on")}, feeds: "go on"},
		"feedback of 5 MB":          {stream: []string{verdictLine(false, "first "+long+"last")}, feeds: "first …last"},
		"text of 5 MB, allowed":     {stream: []string{textResult(long + `{"completed":true}`)}, allowed: true},
		"goes on after its verdict": {stream: []string{verdictLine(true, ""), verdictLine(false, "never")}, acts: `cat '%s'; echo late >> "$RUNS.late"; sleep 600`, allowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.global("supervisor: {timeout_seconds: 1}\n")
			if !strings.Contains(name, "hangs") {
				d.global("") // as long as it takes on a busy machine
			}
			if tt.stream != nil {
				d.answers(tt.stream...)
				if tt.acts == "" {
					tt.acts = "cat '%s'"
				}
				tt.acts = fmt.Sprintf(tt.acts, d.beside("stream"))
			}
			d.acts(offspring + tt.acts)
			a := d.hook(nil)
			switch {
			case tt.allowed:
				a.allows(t)
			case tt.feeds != "":
				// What would fill an agent's context is cut in the middle.
				first, last, cut := strings.Cut(tt.feeds, "…")
				if !a.blocks() || !cut && a.Reason != tt.feeds || !strings.HasPrefix(a.Reason, first) || !strings.HasSuffix(a.Reason, last) || len(a.Reason) > 1<<20 {
					t.Errorf("%d bytes, %.200q; want a block with %.60q", len(a.stdout), a.stdout, tt.feeds)
				}
			default:
				a.unreviewed(t, tt.words...)
				contains(t, strings.Join(d.logLines(), "\n"), append(tt.words, "could not review", "session_id=abc123")...)
				if strings.Contains(a.stderr, "任务未完成") || strings.Contains(a.stderr, "任务已完成") {
					t.Errorf("a verdict of nobody:\n%s", a.stderr)
				}
			}
			if d.counted("abc123").Count != 1 {
				t.Errorf("%+v", d.counted("abc123"))
			}
			d.nothingIsLeft()
			if len(tt.stream) > 0 && tt.acts == "cat '"+d.beside("stream")+"'" {
				if slurp(t, d.state("supervisor-abc123-output.jsonl")) != slurp(t, d.beside("stream")) {
					t.Error("not kept as it came")
				}
			}
		})
	}
}

func TestSupervisorReviewerThatIsMissing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(d *desk)
		word    string
	}{
		"not on the PATH":      {func(d *desk) { d.set("PATH=" + onlyTools(d.gated, "git", "sh")) }, "PATH"},
		"named and not there":  {func(d *desk) { d.set("CCC_CLAUDE=" + d.beside("nowhere")) }, "CCC_CLAUDE"},
		"named, no program":    {func(d *desk) { d.set("CLAUDE_BIN=" + d.claude("ccc.json")); chmod(d.t, d.claude("ccc.json"), 0o600) }, "CLAUDE_BIN"},
		"its interpreter gone": {func(d *desk) { spill(d.t, d.client(), "#!/nowhere/sh\n") }, "claude"},
		"no format we know":    {func(d *desk) { spill(d.t, d.client(), "\x00\x01\x02") }, "claude"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tt.prepare(d)
			a := d.hook(nil)
			a.unreviewed(t, tt.word)
			contains(t, strings.Join(d.logLines(), "\n"), "could not review session_id=abc123")
		})
	}
}

// The client ends a hook by a signal. What the hook started ends with it.
func TestSupervisorHookThatIsEnded(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			d := newDesk(t)
			d.acts(offspring + `echo ready > "$RUNS.ready"; sleep 600`)
			cmd := d.start("supervisor-hook")
			cmd.Stdin = bytes.NewReader(d.stopPayload(nil))
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			check(t, cmd.Start())
			eventually(t, "the reviewer runs", func() bool { return exists(d.beside("runs.ready")) })
			check(t, cmd.Process.Signal(signal))
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, stderr.String())
			}
			d.answer(result{stdout.String(), stderr.String(), 0}).unreviewed(t, "ended")
			d.nothingIsLeft()
		})
	}
}

// hostile are session ids that must not become part of a path.
var hostile = map[string]any{
	"up": "../../x", "up and down": "a/../../../x", "absolute": "/etc/x", "a folder": "a/b", "backslashes": `..\..\x`,
	"NUL": "a\x00b", "newline": "a\nb", "a space": "a b", "dot": ".", "dots": "..", "many dots": "....",
	"10 kB": strings.Repeat("a", 10<<10), "129 bytes": strings.Repeat("a", 129), "unicode": "会话", "lookalike": "a\u2024b", "emoji": "🙂",
	"empty": "", "blank": "  ", "none": nil, "a number": 7, "a list": []string{"a"}, "an object": map[string]any{"a": 1},
	"wildcards": "*", "tilde": "~", "a variable": "$HOME", "a command": "$(touch x)", "percent": "%2e%2e%2fx", "a flag": "--resume=x",
	"escape": "\x1b[2J", "colon": "a:b", "invalid UTF-8": "\xff\xfe",
}

func TestRuling412HostileSessionIDs(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(false, "never asked"))
	check(t, os.MkdirAll(d.state(""), 0o700))
	spill(t, d.beside("x.json"), "outside")
	spill(t, d.claude("x.json"), "outside")
	before := d.everything()
	for name, id := range hostile {
		a := d.hook(map[string]any{"session_id": id})
		if a.Decision != "" || a.SystemMessage == "" {
			t.Errorf("%s: %q", name, a.stdout)
		}
		if len(a.stdout) > 2048 || strings.Contains(a.stderr, "\x1b") {
			t.Errorf("%s: %d bytes on stdout, stderr %q", name, len(a.stdout), a.stderr)
		}
	}
	if diff := cmp.Diff(before, d.everything()); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(d.state(""))
	check(t, err)
	for _, entry := range entries {
		if entry.Name() != "hook-invocation.log" {
			t.Errorf("%s was made", entry.Name())
		}
	}
	if lines := d.logLines(); len(lines) == 0 {
		t.Error("the log says nothing")
	}
	if len(d.calls()) != 0 {
		t.Errorf("%d reviews", len(d.calls()))
	}
	for _, id := range []string{strings.Repeat("a", 128), "A.b_C-9", "0", ".a", "lock", "a-output", "-x"} {
		d.hook(map[string]any{"session_id": id}).refuses(t, "never asked")
		if got := d.counted(id); got.SessionID != id || got.Count != 1 {
			t.Errorf("%+v", got)
		}
	}
	if diff := cmp.Diff(before, d.everything()); diff != "" {
		t.Error(diff)
	}
}

// everything is what there is on the desk, with its content, but for the state
// directories and the stand-in's own records.
func (d *desk) everything() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	root := filepath.Dir(d.root)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch path {
		case filepath.Join(d.home, ".local"), d.claude("ccc"), d.beside("calls"), d.beside("stream"), d.beside("act"):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			all[path] += " " + slurp(d.t, path)
		}
		return nil
	})
	check(d.t, err)
	return all
}

// Links that somebody planted in the state directory lead nowhere.
func TestRuling412PlantedLinks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"supervisor-abc123.json", "supervisor-abc123-output.jsonl", "hook-invocation.log", ".supervisor-abc123.lock"} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			check(t, os.MkdirAll(d.state(""), 0o700))
			spill(t, d.beside("outside"), "outside")
			check(t, os.Symlink(d.beside("outside"), d.state(name)))
			d.answers(verdictLine(false, "go on"))
			before := d.everything()
			d.hook(nil)
			if diff := cmp.Diff(before, d.everything()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A pipe in the place of a file makes nobody wait.
func TestSupervisorPipesInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"ccc/supervisor-abc123.json", "ccc/supervisor-abc123-output.jsonl", "ccc/hook-invocation.log", "SUPERVISOR.md", "ccc.json", "settings.json",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			check(t, os.MkdirAll(d.state(""), 0o700))
			_ = os.Remove(d.claude(name)) // where there is one
			check(t, syscall.Mkfifo(d.claude(name), 0o600))
			d.answers(verdictLine(false, "go on"))
			if a := d.hook(nil); a.Decision != "block" && a.SystemMessage == "" {
				t.Errorf("%+v", a.result)
			}
		})
	}
}

// The planted secrets: one of the person's environment, one of ccc.json, one that needs
// escaping in JSON.
const (
	plantedKey   = "sk-ant-planted-0123456789abcdef"
	plantedToken = "planted-token-fedcba9876543210"
	plantedOdd   = `planted"odd\secret<&>é`
)

// A whole supervised session: the launch, the agent's stop, and a reviewer that prints
// whatever it knows, in every place that is kept or shown.
func TestRuling413SecretsAreNowhere(t *testing.T) {
	t.Parallel()
	secrets := []string{plantedKey, plantedToken, plantedOdd, strings.Trim(encode(plantedOdd), `"`), `planted\"odd\\secret\u003c\u0026\u003e`}
	spoken := "my key is " + plantedKey + " and " + plantedToken + " and " + plantedOdd + "."
	padded := strings.Repeat("x", 276) + plantedToken + plantedKey // where a text is cut
	for name, tt := range map[string]struct{ script, stream string }{
		"in its words":      {"", strings.Replace(saysLine, "I look at the tree.", strings.Trim(encode(spoken), `"`), 1) + "\n" + verdictLine(false, spoken)},
		"in prose":          {"", textResult(spoken + padded)},
		"complete":          {"", verdictLine(true, spoken)},
		"on standard error": {`cat "$SPOKEN" >&2; env >&2`, verdictLine(true, "")},
		"before a crash":    {`cat "$SPOKEN" >&2; echo >&2; printf '%s' '` + padded + `' >&2; exit 1`, ""},
		"in no JSON":        {`cat "$SPOKEN"; env`, verdictLine(false, "go on")},
		"in an error":       {"", `{"type":"result","subtype":"success","is_error":true,"result":` + encode(spoken+padded) + `}`},
		"in errors":         {"", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":[` + encode(padded+spoken) + `]}`},
		"in half a line":    {`printf '{"type":"result","result":"%s' '` + plantedToken + `'`, ""},
		"in pieces":         {`printf 'sk-ant-planted-'; sleep 0.05; printf '0123456789abcdef\n'`, verdictLine(false, "go on")},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			spill(t, d.claude("ccc.json"), `{"providers":{"glm":{"env":{"ANTHROPIC_AUTH_TOKEN":"`+plantedToken+`","ODD_SECRET":`+encode(plantedOdd)+`}}}}`)
			records := t.TempDir() // what the stand-in keeps is its own
			spill(t, filepath.Join(records, "spoken"), spoken)
			spill(t, filepath.Join(records, "stream"), tt.stream+"\n")
			payload := filepath.Join(records, "payload")
			spill(t, payload, string(d.stopPayload(map[string]any{"last_assistant_message": "done"})))
			d.set("CCC_SUPERVISOR=1")
			d.set("OPENAI_API_KEY=" + plantedKey)
			d.set("SPOKEN=" + filepath.Join(records, "spoken"))
			spill(t, d.client(), `#!/bin/sh
if test -n "$CCC_SUPERVISOR_HOOK"; then
  `+tt.script+`
  cat '`+filepath.Join(records, "stream")+`'
  exit
fi
CLAUDECODE=1 '`+d.ccc()+`' supervisor-hook < '`+payload+`'
`)
			r := d.launch("glm")
			if r.code != 0 || r.stdout == "" || d.counted("abc123").Count != 1 {
				t.Fatalf("%+v", r)
			}
			status := d.call(nil, "supervisor", "status", "--session", "abc123")
			broken := await(t, d.start("supervisor-hook"), strings.NewReader(`{"session_id":"../`+plantedKey+`"`))
			log := d.call(nil, "log")
			said := r.stdout + r.stderr + status.stdout + status.stderr + log.stdout + log.stderr +
				broken.stdout + broken.stderr
			searched := 0
			err := filepath.WalkDir(filepath.Dir(d.root), func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() || path == d.claude("ccc.json") || path == d.client() {
					return err
				}
				searched++
				free(t, path, slurp(t, path), secrets)
				return nil
			})
			check(t, err)
			if searched < 6 {
				t.Errorf("only %d files were searched", searched)
			}
			free(t, "what was printed", said, secrets)
			hostile := d.hook(map[string]any{"session_id": "../" + plantedKey})
			free(t, "an id that is refused", hostile.stdout+hostile.stderr+slurp(t, d.state("hook-invocation.log")), secrets)
		})
	}
}

// free demands that a text holds no secret, nor so much of one that it is worth
// guessing the rest.
func free(t *testing.T, where, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if part := secret[:min(len(secret), 20)]; strings.Contains(text, part) {
			t.Errorf("%s holds %q", where, part)
		}
	}
}

// 500 calls at once over 50 sessions, ten each, which is the limit: each counts, and
// each is a review. It runs alone: others would be late beside it.
func TestSupervisorCrowdKeepsExactCounts(t *testing.T) {
	d := deskOf(t, bare(t))
	const sessions, each = 50, 10
	plain := t.TempDir() // no repository: nobody asks git
	spill(t, d.beside("stream"), verdictLine(false, "go on")+"\n")
	spill(t, d.client(), "#!/bin/sh\nexec cat '"+d.beside("stream")+"'\n")
	var wg sync.WaitGroup
	start := make(chan struct{})
	results := make([]hookAnswer, sessions*each)
	for i := range results {
		// A file, because so many writers would be late: a hook waits five seconds.
		payload := filepath.Join(plain, fmt.Sprint(i%sessions))
		spill(t, payload, string(d.stopPayload(map[string]any{"session_id": fmt.Sprintf("s%d", i%sessions), "cwd": plain})))
		cmd := d.start("supervisor-hook")
		cmd.Dir = plain
		wg.Go(func() {
			<-start
			results[i] = d.run(cmd, payload)
		})
	}
	close(start)
	wg.Wait()
	for i, a := range results {
		if a.refuses(t, "go on"); t.Failed() {
			t.Fatalf("call %d", i)
		}
	}
	for s := range sessions {
		id := fmt.Sprintf("s%d", s)
		if got := d.counted(id); got.Count != each {
			t.Errorf("session %s was counted to %d", id, got.Count)
		}
		contains(t, slurp(t, d.state("supervisor-"+id+".json")), `"reviews":10`, `"refusals":10`, `"usd":2.5`)
		if lines := strings.Count(slurp(t, d.state("supervisor-"+id+"-output.jsonl")), "\n"); lines != each {
			t.Errorf("session %s kept %d lines", id, lines)
		}
	}
	// One that sees another's half written line ends it, so there may be empty ones.
	log := slurp(t, d.state("hook-invocation.log"))
	for id := range sessions {
		for n := range each {
			if !strings.Contains(log, fmt.Sprintf("Z supervisor-hook invoked session_id=s%d iteration=%d/%d\n", id, n+1, each)) {
				t.Errorf("review %d of session s%d is not in the log", n+1, id)
			}
		}
	}
	if a := d.hook(map[string]any{"session_id": "s0"}); a.stdout != "" {
		t.Errorf("beyond the limit: %q", a.stdout)
	}
}

// run is answer for goroutines, which must not end the test.
func (d *desk) run(cmd *exec.Cmd, payload string) hookAnswer {
	var stdout, stderr bytes.Buffer
	file, err := os.Open(payload)
	if err != nil {
		d.t.Error(err)
		return hookAnswer{}
	}
	defer file.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		d.t.Errorf("%v: %s", err, stderr.String())
	}
	return d.answer(result{stdout.String(), stderr.String(), 0})
}

// Nothing of the person's is lost, whatever is wrong with the state.
func TestSupervisorDamagedState(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "half of it": `{"session_id":"abc123","cou`, "binary": "\x00\x01", "a list": "[]", "of another session": `{"session_id":"other","count":9}`,
		"count of another type": `{"session_id":"abc123","count":"nine"}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.countTo("abc123", "1")
			spill(t, d.state("supervisor-abc123.json"), text)
			d.answers(verdictLine(false, "go on"))
			d.hook(nil).refuses(t, "go on")
			if got := d.counted("abc123"); got.Count != 1 || got.SessionID != "abc123" {
				t.Errorf("%+v", got)
			}
			if got := slurp(t, d.state("supervisor-abc123.json.damaged")); got != text {
				t.Errorf("set aside as %q", got)
			}
		})
	}
}

// Without a count nothing would end a loop: the agent is let go, and a person told.
func TestSupervisorStateThatCannotBeWritten(t *testing.T) {
	d := newDesk(t)
	spill(t, d.claude("ccc"), "a file in the place of the directory")
	d.answers(verdictLine(false, "never asked"))
	d.hook(nil).unreviewed(t)
	if len(d.calls()) != 0 {
		t.Errorf("%d reviews that nobody counted", len(d.calls()))
	}
}
