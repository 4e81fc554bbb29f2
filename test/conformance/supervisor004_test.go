package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/standin"
)

// desk is a person's machine: a home with a ccc.json, a repository to work in, the
// program under the name ccc, and a stand-in for the client on the PATH. The same
// stand-in is the agent's client and the reviewer's, as the real one is.
type desk struct {
	*gated
	standIn *standin.Headless
}

// oneProvider is a ccc.json.
const oneProvider = `{"providers":{"glm":{}}}`

func newDesk(t *testing.T) *desk {
	t.Helper()
	t.Parallel()
	return deskOf(t, bare(t))
}

// deskOf is the desk around a repository.
func deskOf(t *testing.T, g *gated) *desk {
	t.Helper()
	d := &desk{gated: g}
	check(t, os.Symlink(stopgate, d.ccc()))
	check(t, os.Mkdir(d.claude(""), 0o700))
	spill(t, d.claude("ccc.json"), oneProvider)
	d.standIn = standin.NewHeadless(t, d.client(), d.beside(""))
	return d
}

// ccc is the program under the name that seed 004 gives it.
func (d *desk) ccc() string { return d.beside("bin/ccc") }

func (d *desk) client() string { return d.beside("bin/claude") }

// claude is a file in the directory of the client's settings.
func (d *desk) claude(name string) string { return filepath.Join(d.home, ".claude", name) }

// state is a file in the supervisor's state directory.
func (d *desk) state(name string) string { return d.claude("ccc/" + name) }

// acts says what the stand-in does, as a shell script. It knows where it records its
// call: $call.
func (d *desk) acts(script string) { d.standIn.Acts(script) }

// answers has the stand-in print lines.
func (d *desk) answers(lines ...string) { d.standIn.Answers(lines...) }

// invocation is how the stand-in was called.
type invocation struct {
	args, env  []string
	cwd, stdin string
}

// calls lists how the stand-in was called, in order.
func (d *desk) calls() []invocation {
	d.t.Helper()
	var all []invocation
	for n := range d.standIn.Calls() {
		split := func(name string) []string {
			text := slurp(d.t, d.standIn.Note(n+1, name))
			return slices.Collect(strings.SplitSeq(text, "\x00"))[:strings.Count(text, "\x00")] // each ends in one
		}
		all = append(all, invocation{
			args: split("args"), env: split("env"),
			cwd: strings.TrimSuffix(slurp(d.t, d.standIn.Note(n+1, "cwd")), "\n"), stdin: slurp(d.t, d.standIn.Note(n+1, "stdin")),
		})
	}
	return all
}

// only is the call, of which there was one.
func (d *desk) only() invocation {
	d.t.Helper()
	all := d.calls()
	if len(all) != 1 {
		d.t.Fatalf("%d calls of the client, want 1", len(all))
	}
	return all[0]
}

// variable is what a variable of the client is; all of its values, if it is there
// more than once.
func (i invocation) variable(name string) (values []string) {
	for _, entry := range i.env {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			values = append(values, value)
		}
	}
	return values
}

func (i invocation) has(t *testing.T, name, value string) {
	t.Helper()
	if got := i.variable(name); !slices.Equal(got, []string{value}) {
		t.Errorf("the client has %s = %q, want %q once", name, got, value)
	}
}

func (i invocation) hasNot(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if got := i.variable(name); got != nil {
			t.Errorf("the client has %s = %q", name, got)
		}
	}
}

// after is the argument that follows a flag, which must be there once.
func (i invocation) after(t *testing.T, flag string) string {
	t.Helper()
	at := slices.Index(i.args, flag)
	if at < 0 || at+1 == len(i.args) || slices.Contains(i.args[at+1:], flag) {
		t.Fatalf("not once and with a value: %s in %q", flag, i.args)
	}
	return i.args[at+1]
}

// without demands that no argument is a flag or sets it.
func (i invocation) without(t *testing.T, flags ...string) {
	t.Helper()
	for _, arg := range i.args {
		for _, flag := range flags {
			if name, _, _ := strings.Cut(arg, "="); name == flag {
				t.Errorf("the client got %q", arg)
			}
		}
	}
}

// start prepares "ccc …", in the project.
func (d *desk) start(args ...string) *exec.Cmd {
	cmd := exec.Command(d.ccc(), args...)
	cmd.Dir, cmd.Env = d.root, d.env
	return cmd
}

// launch runs "ccc …" to its end.
func (d *desk) launch(args ...string) result {
	d.t.Helper()
	return await(d.t, d.start(args...), strings.NewReader("typed"))
}

// starts demands that a launch came as far as the client, and that we printed
// nothing on its standard output.
func (d *desk) starts(args ...string) result {
	d.t.Helper()
	before := len(d.calls())
	r := d.launch(args...)
	if r.code != 0 || r.stdout != "" || len(d.calls()) != before+1 {
		d.t.Fatalf("%d calls, %+v", len(d.calls())-before, r)
	}
	return r
}

// hook calls "ccc supervisor-hook" with the seed's payload, changed.
func (d *desk) hook(changes map[string]any) hookAnswer {
	d.t.Helper()
	return d.answer(await(d.t, d.start("supervisor-hook"), bytes.NewReader(d.stopPayload(changes))))
}

// answer reads what a hook said and holds it to what every answer must be: exit code
// 0, and nothing or one line with one JSON object that the client takes.
func (d *desk) answer(r result) hookAnswer {
	d.t.Helper()
	a := hookAnswer{result: r}
	if r.code != 0 {
		d.t.Errorf("exit code %d: %+v", r.code, r)
	}
	if r.stdout == "" {
		return a
	}
	if strings.Count(r.stdout, "\n") != 1 || !strings.HasSuffix(r.stdout, "\n") {
		d.t.Errorf("not one line: %q", r.stdout)
	}
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
		d.t.Fatalf("%v in %q", err, r.stdout)
	}
	return a
}

// allows demands that the agent may stop, and that nobody is told anything.
func (a hookAnswer) allows(t *testing.T) {
	t.Helper()
	if a.stdout != "{}\n" {
		t.Errorf("stdout %q, want {}\n%s", a.stdout, a.stderr)
	}
}

// refuses demands that the agent goes on with exactly this feedback.
func (a hookAnswer) refuses(t *testing.T, feedback string) {
	t.Helper()
	if !a.blocks() || a.Reason != feedback {
		t.Errorf("stdout %q, want a block with the reason %q\n%s", a.stdout, feedback, a.stderr)
	}
}

// unreviewed demands that the agent may stop because nobody could judge its work,
// and that the person hears of it: none of it is for the agent.
func (a hookAnswer) unreviewed(t *testing.T, words ...string) {
	t.Helper()
	var keys map[string]any
	if err := json.Unmarshal([]byte(a.stdout), &keys); err != nil {
		t.Fatalf("%v in %q", err, a.stdout)
	}
	if names := slices.Collect(maps.Keys(keys)); !slices.Equal(names, []string{"systemMessage"}) {
		t.Errorf("not a message for the person alone: %s", a.stdout)
	}
	contains(t, a.SystemMessage, append(words, "review")...)
}

// counted is the state file of a session.
type counted struct {
	SessionID string `json:"session_id"`
	Count     int    `json:"count"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (d *desk) counted(session string) counted {
	d.t.Helper()
	return countedAt(d.t, d.state("supervisor-"+session+".json"))
}

func countedAt(t *testing.T, path string) (c counted) {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return c
}

// countTo writes a state file by hand, with the seed's four fields.
func (d *desk) countTo(session, count string) {
	d.t.Helper()
	check(d.t, os.MkdirAll(d.state(""), 0o700))
	spill(d.t, d.state("supervisor-"+session+".json"), `{"session_id":"`+session+`","count":`+count+
		`,"created_at":"2026-01-06T10:00:00Z","updated_at":"2026-01-06T10:05:00Z"}`)
}

// stopEntries lists the Stop hooks of a settings file, of all groups.
func stopEntries(t *testing.T, path string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []map[string]any `json:"hooks"`
		} `json:"hooks"`
	}
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var all []map[string]any
	for _, group := range file.Hooks["Stop"] {
		all = append(all, group.Hooks...)
	}
	return all
}

// supervisorEntries lists those of ours.
func supervisorEntries(t *testing.T, path string) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(stopEntries(t, path), func(e map[string]any) bool {
		command, _ := e["command"].(string)
		return !strings.HasSuffix(command, " supervisor-hook")
	})
}

// What a reviewer's client prints. The forms are the real client's.
const (
	initLine = `{"type":"system","subtype":"init","session_id":"fork","tools":["Read","StructuredOutput"]}`
	saysLine = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I look at the tree. 我在看。"}]},"session_id":"fork"}`
)

// verdictLine is the result of a reviewer that answered by the schema.
func verdictLine(completed bool, feedback string) string {
	answer := encode(map[string]any{"completed": completed, "feedback": feedback})
	return `{"type":"result","subtype":"success","is_error":false,"result":` + encode(answer) + `,"structured_output":` + answer +
		`,"session_id":"fork","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}`
}

// textResult is the result of a reviewer that answered in words of its own.
func textResult(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"result":` + encode(text) + `,"session_id":"fork"}`
}

func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only what encodes is given
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// neverRead is a standard input that nobody closes.
func neverRead(t *testing.T) io.Reader {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r
}
