package wake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

func newOutbox(t testing.TB) Outbox {
	t.Helper()
	return NewOutbox(filepath.Join(t.TempDir(), "state"))
}

func letter(agentID, key string) Letter {
	return Letter{Key: key, Kind: Idle, AgentID: agentID, Session: "s", Time: time.Unix(0, 0), Body: "body of " + key}
}

func put(t testing.TB, o Outbox, agentID string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		check(t, o.Put(letter(agentID, key)))
	}
}

func next(t testing.TB, b Box) Letter {
	t.Helper()
	l, ok, err := b.Next()
	check(t, err)
	if !ok {
		t.Fatal("nothing waits")
	}
	return l
}

// drain sends all that waits.
func drain(t testing.TB, b Box) (keys []string) {
	t.Helper()
	for {
		l, ok, err := b.Next()
		check(t, err)
		if !ok {
			return keys
		}
		keys = append(keys, l.Key)
		check(t, b.Sent(l))
	}
}

func waiting(t testing.TB, b Box) (keys []string) {
	t.Helper()
	files, err := b.files()
	check(t, err)
	for _, f := range files {
		keys = append(keys, f.key)
	}
	return keys
}

// pathOf is the file of a letter that waits.
func pathOf(t testing.TB, b Box, l Letter) string {
	t.Helper()
	files, err := b.files()
	check(t, err)
	file, ok := find(files, l.Key)
	if !ok {
		t.Fatalf("%s does not wait", l.Key)
	}
	return b.path(file.name())
}

func same(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPutAndNext(t *testing.T) {
	o := newOutbox(t)
	if o.Waiting() {
		t.Error("something waits where there is no directory")
	}
	agentIDs, err := o.AgentIDs()
	check(t, err)
	same(t, 0, len(agentIDs))

	l := queueLetter(QueueComplete)
	l.LastAssistantMessage, l.SuggestedCommands, l.Questions = ptr("<b>\u2028"), []string{"/clear"}, json.RawMessage(`{"a":[1]}`)
	l.Notice, l.Error, l.Body, l.Workspace = "notice", "error", "body", "/w"
	check(t, o.Put(l))
	got := next(t, o.Box("a"))
	same(t, l, got)
	if !o.Waiting() {
		t.Error("nothing waits")
	}
	same(t, []string{"k2"}, drain(t, o.Box("a")))
	if o.Waiting() {
		t.Error("something waits after it was sent")
	}
	agentIDs, err = o.AgentIDs()
	check(t, err)
	same(t, 0, len(agentIDs))
}

// Receivers of webhooks rely on these names.
func TestLetterJSON(t *testing.T) {
	o := newOutbox(t)
	l := queueLetter(QueueComplete)
	l.Headline = "Queue complete. 1/2 commands executed. Results attached."
	l.LastAssistantMessage, l.Questions, l.Notice, l.Error, l.Body, l.Workspace = ptr("<m>"), json.RawMessage(`{}`), "n", "e", "b", "/w"
	l.Time = l.Time.Add(1_234_567)
	check(t, o.Put(l))
	path := pathOf(t, o.Box("a"), l)
	text, err := os.ReadFile(path)
	check(t, err)
	want := `{"key":"k2","kind":"queue_complete","event":"Stop","session":"s","agent_id":"a","workspace":"/w","timestamp":"2026-02-20T10:00:00.001Z",` +
		`"headline":"Queue complete. 1/2 commands executed. Results attached.","notice":"n","last_assistant_message":"<m>","suggested_commands":[],"questions":{},` +
		`"queue":{"path":"/state/queue-s.done.json","completed":1,"total":2,"remaining":["say \"hi\"\nto <all>"],"commands":[` +
		`{"id":1,"command":"/clear","status":"done","completed_at":"2026-02-20T09:59:00.000Z"},` +
		`{"id":2,"command":"say \"hi\"\nto <all>","status":"pending","completed_at":null}]},"error":"e","message":"b"}` + "\n"
	same(t, want, string(text))
}

func TestOrderAndAgents(t *testing.T) {
	o := newOutbox(t)
	put(t, o, "one", "c", "a")
	put(t, o, "two", "x")
	put(t, o, "one", "b")
	agentIDs, err := o.AgentIDs()
	check(t, err)
	same(t, []string{"one", "two"}, agentIDs)
	same(t, []string{"c", "a", "b"}, drain(t, o.Box("one")))
	same(t, []string{"x"}, drain(t, o.Box("two")))
}

// The clock says nothing about the order.
func TestClockJumpsBack(t *testing.T) {
	o := newOutbox(t)
	for i, key := range []string{"a", "b", "c"} {
		l := letter("agent", key)
		l.Time = time.Unix(int64(1_000_000-i*1000), 0)
		check(t, o.Put(l))
		path := pathOf(t, o.Box("agent"), l)
		check(t, os.Chtimes(path, l.Time, l.Time))
	}
	same(t, []string{"a", "b", "c"}, drain(t, o.Box("agent")))
}

// The order is that of numbers, also where names are longer than others.
func TestManyDigits(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	check(t, b.remember(letterFile{number: 999_999_999_998, key: "former"}))
	put(t, o, "agent", "a", "b", "c")
	same(t, []string{"a", "b", "c"}, drain(t, b))
}

func TestSameKeyIsOneLetter(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a", "b", "a")
	same(t, []string{"a", "b"}, waiting(t, b))
	l := next(t, b) // is being sent
	put(t, o, "agent", "a")
	check(t, b.Sent(l))
	put(t, o, "agent", "a")
	same(t, []string{"b"}, waiting(t, b))
	check(t, b.Kill(next(t, b), "no use"))
	put(t, o, "agent", "b", "a", "c")
	same(t, []string{"c"}, drain(t, b))
	put(t, o, "other", "a") // news to another
	same(t, []string{"a"}, drain(t, o.Box("other")))
}

func TestRepeatIsKnownForTheLast200(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	for i := range maxPast + 1 {
		check(t, b.remember(letterFile{number: int64(i + 1), key: fmt.Sprint(i)}))
	}
	put(t, o, "agent", "1", fmt.Sprint(maxPast), "0")
	same(t, []string{"0"}, waiting(t, b))
}

// Numbers go on when everything was sent, so that names of dead letters stay in order.
func TestNumbersGoOn(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a", "b")
	check(t, b.Kill(next(t, b), "x"))
	drain(t, b)
	put(t, o, "agent", "c")
	path := pathOf(t, b, letter("agent", "c"))
	same(t, "000000000003-c.json", filepath.Base(path))
	drain(t, b)
	check(t, os.Remove(b.path(sentFile)))
	put(t, o, "agent", "d")
	path = pathOf(t, b, letter("agent", "d"))
	same(t, "000000000002-d.json", filepath.Base(path)) // after the dead one
}

func TestRefusedLetters(t *testing.T) {
	o := newOutbox(t)
	for _, l := range []Letter{letter("", "a"), letter("a", ""), letter("a", "x/y"), letter("a", "x\n"), letter("a", strings.Repeat("k", 129)), letter("a", "..")} {
		if err := o.Put(l); err == nil {
			t.Errorf("%q to %q was taken", l.Key, l.AgentID)
		}
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("they left something: %v", err)
	}
}

func TestOddAgents(t *testing.T) {
	o := newOutbox(t)
	agentIDs := []string{
		"a", "A", "../../escape", "..", ".", "a/b", "a\nb", "%41", "agent 1", "~tilde", "é", "-",
		strings.Repeat("n", maxBoxName), strings.Repeat("n", maxBoxName+1), strings.Repeat("/", 5000), strings.Repeat("/", 5001),
	}
	for _, agentID := range agentIDs {
		put(t, o, agentID, "a", "b")
	}
	got, err := o.AgentIDs()
	check(t, err)
	slices.Sort(agentIDs)
	slices.Sort(got)
	same(t, agentIDs, got)
	for _, agentID := range agentIDs {
		same(t, agentID, next(t, o.Box(agentID)).AgentID)
		same(t, []string{"a", "b"}, drain(t, o.Box(agentID)))
	}
	entries, err := os.ReadDir(o.Dir)
	check(t, err)
	same(t, len(agentIDs), len(entries))
	up, err := os.ReadDir(filepath.Dir(o.Dir))
	check(t, err)
	same(t, 1, len(up))
}

func FuzzBoxName(f *testing.F) {
	for _, agentID := range []string{"a", "A/b", "..", "%", "~x", strings.Repeat("é", 99)} {
		f.Add(agentID, strings.ToLower(agentID))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		name := boxName(a)
		if len(name) > 200 || strings.ContainsAny(name, "/\\.\x00") || (name == "") != (a == "") {
			t.Errorf("%q is %q", a, name)
		}
		if strings.EqualFold(name, boxName(b)) && a != b {
			t.Errorf("%q and %q are one", a, b)
		}
		if got, ok := (Outbox{}).agentIDOf(name); name != "" && !strings.HasPrefix(name, hashMark) && (!ok || got != a) {
			t.Errorf("%q became %q", a, got)
		}
	})
}

func FuzzParseName(f *testing.F) {
	for _, name := range []string{"000000000001-k.json", "1000000000000-a-b_c.json", "000000000000-k.json", "1-k.json", "+00000000001-k.json", "000000000001-.json", "000000000001-k.why.json"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, ok := parseName(name)
		if ok && (file.name() != name || file.number < 1 || !isKey(file.key) || filepath.Base(name) != name) {
			t.Errorf("%q was read as %v", name, file)
		}
	})
}

func TestForeignFiles(t *testing.T) {
	o := newOutbox(t)
	put(t, o, "agent", "a")
	b := o.Box("agent")
	for _, dir := range []string{"Upper", "%zz", "%61gent", "~" + strings.Repeat("0", 64), "empty", "agent/subdir", "agent/dead"} {
		check(t, os.MkdirAll(filepath.Join(o.Dir, dir), 0o700))
	}
	foreign := []string{"notes.txt", "agent/README", "agent/1-x.json", "agent/000000000001-x.json.bak", "agent/dead/notes", "agent/.hidden"}
	for _, file := range foreign {
		check(t, os.WriteFile(filepath.Join(o.Dir, file), []byte("mine"), 0o600))
	}
	put(t, o, "agent", "b")
	agentIDs, err := o.AgentIDs()
	check(t, err)
	same(t, []string{"agent"}, agentIDs)
	check(t, b.Kill(next(t, b), "x"))
	same(t, []string{"b"}, drain(t, b))
	summary, err := o.Summary()
	check(t, err)
	same(t, 1, len(summary))
	for _, file := range foreign {
		if text, err := os.ReadFile(filepath.Join(o.Dir, file)); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

func TestDamagedLettersAreSetAside(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a", "b", "c", "d", "e")
	damage := func(key string, do func(path string)) {
		path := pathOf(t, b, letter("agent", key))
		do(path)
	}
	damage("a", func(path string) { check(t, os.Truncate(path, 10)) })
	damage("b", func(path string) { check(t, os.Truncate(path, 0)) })
	damage("c", func(path string) { check(t, os.WriteFile(path, []byte(`{"key":"x"}`), 0o600)) })
	damage("d", func(path string) {
		check(t, os.Remove(path))
		check(t, os.MkdirAll(filepath.Join(path, "below"), 0o700))
	})
	same(t, []string{"e"}, drain(t, b))
	summary, err := o.Summary()
	check(t, err)
	var why []string
	for _, dead := range summary[0].Dead {
		if _, err := os.Lstat(dead.Path); err != nil || dead.Time.IsZero() {
			t.Errorf("%v: %v", dead, err)
		}
		why = append(why, filepath.Base(dead.Path)+": "+dead.Why)
	}
	same(t, []string{
		"000000000004-d.json: invalid message file: not a regular file",
		`000000000003-c.json: invalid message file: its key is "x"`,
		"000000000002-b.json: invalid message file: unexpected end of JSON input",
		"000000000001-a.json: invalid message file: unexpected end of JSON input",
	}, why)
}

func TestHold(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	release, err := b.Hold()
	check(t, err)
	if _, err := b.Hold(); !errors.Is(err, lockfile.ErrBusy) {
		t.Errorf("held twice: %v", err)
	}
	put(t, o, "agent", "a") // does not wait for the sender
	other, err := o.Box("other").Hold()
	check(t, err)
	other()
	release()
	release, err = b.Hold()
	check(t, err)
	release()
}

func TestTries(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	state := func() State {
		t.Helper()
		s, err := b.State()
		check(t, err)
		return s
	}
	same(t, State{}, state())
	put(t, o, "agent", "a", "b")
	same(t, State{}, state())
	a := next(t, b)
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	check(t, b.Tried(a, errors.New("gateway\nis down"), time.Time{}, t0.Add(time.Second)))
	check(t, b.Tried(a, errors.New("still"), t0, t0.Add(3*time.Second)))
	same(t, State{Key: "a", Tries: 2, NextTry: t0.Add(3 * time.Second), LastError: "still", Since: t0}, state())
	summary, err := o.Summary()
	check(t, err)
	same(t, []AgentSummary{{AgentID: "agent", Waiting: 2, Oldest: time.Unix(0, 0).UTC(), Tries: 2, LastError: "still"}}, summary)
	check(t, b.Await("me"))
	same(t, "me", state().Sender)
	check(t, b.Sent(a))
	same(t, State{}, state())
	letterB := next(t, b)
	check(t, b.Tried(letterB, errors.New("x\x1b[2J\ny"), time.Time{}, t0))
	same(t, State{Key: "b", Tries: 1, NextTry: t0, LastError: "x y"}, state())
	check(t, os.WriteFile(b.path(stateFile), []byte("{"), 0o600))
	same(t, State{}, state())
	check(t, b.Tried(letterB, errors.New("x"), time.Time{}, t0))
	same(t, 1, state().Tries)
}

// A gateway that failed one letter until it died has still failed as often.
func TestDeathsDoNotEndARow(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a", "b", "c")
	t0 := time.Unix(1000, 0).UTC()
	for _, key := range []string{"a", "b"} {
		l := next(t, b)
		same(t, key, l.Key)
		check(t, b.Tried(l, errors.New("x"), t0, t0))
		check(t, b.Kill(l, "x"))
	}
	state, err := b.State()
	check(t, err)
	same(t, State{Key: "b", Tries: 2, NextTry: t0, LastError: "x", Since: t0}, state)
	// The sender of the third was killed before it could end the row.
	check(t, b.remember(letterFile{number: 3, key: "c"}))
	same(t, 0, len(drain(t, b)))
	state, err = b.State()
	check(t, err)
	same(t, State{}, state)
}

// A box that nobody empties does not grow for ever. What a sender is at stays where it
// is.
func TestFullBox(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "first", "second", "third", "damaged")
	check(t, os.Truncate(pathOf(t, b, letter("agent", "damaged")), 0))
	for i := range maxWaiting - 4 {
		path := b.path(letterFile{number: int64(i + 10), key: fmt.Sprint("n", i)}.name())
		check(t, os.WriteFile(path, nil, 0o600))
	}
	same(t, maxWaiting, len(waiting(t, b)))
	put(t, o, "agent", "one", "two", "three", "one")
	left := waiting(t, b)
	same(t, maxWaiting, len(left))
	same(t, []string{"first", "n0", "n1"}, left[:3])
	same(t, []string{"one", "two", "three"}, left[maxWaiting-3:])
	summary, err := o.Summary()
	check(t, err)
	var dead []string
	for _, d := range summary[0].Dead {
		dead = append(dead, filepath.Base(d.Path)+" "+string(d.Kind)+": "+d.Why)
	}
	same(t, []string{
		"000000000004-damaged.json : more than 1000 messages were waiting",
		"000000000003-third.json idle: more than 1000 messages were waiting",
		"000000000002-second.json idle: more than 1000 messages were waiting",
	}, dead)
}

func TestDeadLetters(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	for i := range maxDead + 5 {
		l := letter("agent", fmt.Sprintf("k%d", i))
		l.Kind, l.Time = Stop, time.Unix(int64(1000-i), 0).UTC()
		check(t, o.Put(l))
		check(t, b.Kill(l, "refused:\n400"))
	}
	check(t, b.Kill(letter("agent", "unknown"), "x"))
	summary, err := o.Summary()
	check(t, err)
	dead := summary[0].Dead
	same(t, maxDead, len(dead))
	same(t, DeadLetter{
		Path: filepath.Join(o.Dir, "agent", "dead", "000000000105-k104.json"), Kind: Stop, Session: "s", Time: time.Unix(1000-104, 0).UTC(), Why: "refused: 400",
	}, dead[0])
	same(t, "000000000006-k5.json", filepath.Base(dead[maxDead-1].Path))
	entries, err := os.ReadDir(b.path(deadDir))
	check(t, err)
	same(t, 2*maxDead, len(entries))
	if l, err := readLetter(dead[0].Path, "k104"); err != nil || l.Body != "body of k104" {
		t.Errorf("%v, %v", l, err)
	}
	check(t, os.Remove(b.deadPath("000000000105-k104"+obituarySuffix)))
	summary, err = o.Summary()
	check(t, err)
	same(t, "unknown", summary[0].Dead[0].Why)
}

// A sender that was killed after it had noted a letter as sent.
func TestSentButNotRemoved(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a", "b")
	check(t, b.remember(letterFile{number: 1, key: "a"}))
	same(t, []string{"b"}, drain(t, b))
	same(t, 0, len(waiting(t, b)))
}

func TestLitterIsRemoved(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a")
	check(t, os.MkdirAll(b.path(deadDir), 0o700))
	for _, dir := range []string{".", deadDir} {
		check(t, os.WriteFile(b.path(filepath.Join(dir, ".stopgate-"+"123")), []byte("half"), 0o600))
	}
	put(t, o, "agent", "b")
	check(t, b.Kill(next(t, b), "x"))
	for _, dir := range []string{".", deadDir} {
		if _, err := os.Stat(b.path(filepath.Join(dir, ".stopgate-"+"123"))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestDamagedMemory(t *testing.T) {
	o := newOutbox(t)
	b := o.Box("agent")
	put(t, o, "agent", "a")
	check(t, os.WriteFile(b.path(sentFile), []byte("\x00\xff\n000000000007-old\nhalf"), 0o600))
	put(t, o, "agent", "old", "c")
	same(t, []string{"a", "c"}, drain(t, b))
}

func TestManyPutAtOnce(t *testing.T) {
	o := newOutbox(t)
	const putters, each = 8, 20
	var group sync.WaitGroup
	for i := range putters {
		group.Go(func() {
			for j := range each {
				// Each letter is put by two.
				if err := o.Put(letter("agent", fmt.Sprintf("%d-%d", i/2, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	keys := drain(t, o.Box("agent"))
	same(t, putters/2*each, len(keys))
	at := make(map[string]int)
	for _, key := range keys {
		var who, what int
		_, err := fmt.Sscanf(key, "%d-%d", &who, &what)
		check(t, err)
		same(t, at[fmt.Sprint(who)], what)
		at[fmt.Sprint(who)]++
	}
}

func TestHugeLetter(t *testing.T) {
	huge := strings.Repeat("\x00", maxMessage+1) // which takes most room as JSON
	l := letter("agent", "a")
	l.LastAssistantMessage = &huge
	l.Workspace, l.Headline, l.Notice, l.Error, l.Body, l.SuggestedCommands = huge, huge, huge, huge, huge, slices.Repeat([]string{huge}, 3000)
	l.Questions = json.RawMessage(`"` + strings.Repeat("x", maxQuestions))
	l.Queue = &QueueSummary{Remaining: l.SuggestedCommands, Commands: slices.Repeat([]QueueCommand{{Command: huge}}, 3000)}
	got := l.bounded()
	same(t, true, len(*got.LastAssistantMessage) <= maxMessage && len(*got.LastAssistantMessage) > maxMessage-100)
	same(t, maxBody, len(got.Body))
	same(t, true, json.Valid(got.Questions))
	text, err := rawjson.Marshal(got)
	check(t, err)
	same(t, true, len(text) < maxFile)
	if len(*l.LastAssistantMessage) != len(huge) || len(l.Queue.Commands) != 3000 {
		t.Error("the caller's letter has changed")
	}
	o := newOutbox(t)
	l.SuggestedCommands, l.Queue = nil, nil
	check(t, o.Put(l))
	same(t, true, *next(t, o.Box("agent")).LastAssistantMessage == *got.LastAssistantMessage)
}

// A wake is not lost because the client's JSON is none.
func TestQuestionsThatAreNoJSON(t *testing.T) {
	o := newOutbox(t)
	l := letter("agent", "a")
	l.Questions = json.RawMessage(`{"half`)
	check(t, o.Put(l))
	same(t, `"{\"half"`, string(next(t, o.Box("agent")).Questions))
}

func TestWholeMessageIsKept(t *testing.T) {
	o := newOutbox(t)
	l := letter("agent", "a")
	message := strings.Repeat("m", maxMessage)
	l.LastAssistantMessage = &message
	check(t, o.Put(l))
	same(t, true, *next(t, o.Box("agent")).LastAssistantMessage == message)
}

func TestKey(t *testing.T) {
	// Letters of an older version may wait: keys stay what they are.
	same(t, "facdde7abf1eac5b301273ab2e282f79", Key("a", "b"))
	seen := make(map[string]bool)
	for _, parts := range [][]string{
		nil,
		{""},
		{"", ""},
		{"a", "b"},
		{"ab"},
		{"ab", ""},
		{"a", "b", ""},
		{"b", "a"},
		{"1:a"},
		{"a", "1:b"},
		{"a:b"},
		{"00000000000"},
		append([]string{"1"}, make([]string, 11)...),
	} {
		key := Key(parts...)
		if seen[key] || !isKey(key) {
			t.Errorf("%q: %s", parts, key)
		}
		seen[key] = true
	}
}

func BenchmarkPut(b *testing.B) {
	o := newOutbox(b)
	l := stopLetter(strings.Repeat("0123456789", 1000))
	l.Body = Compose(l, "Decide.")
	box := o.Box(l.AgentID)
	check(b, box.remember(letterFile{number: 1, key: "former"}))
	for i := 0; b.Loop(); i++ {
		l.Key = fmt.Sprint(i)
		check(b, o.Put(l))
		check(b, os.Remove(box.path(letterFile{number: 2, key: l.Key}.name())))
	}
}
