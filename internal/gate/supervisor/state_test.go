package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

const someSession = "abc123"

var noon = time.Date(2026, 11, 15, 12, 0, 0, 120_900_000, time.FixedZone("", 3600))

func newDir(t *testing.T) Dir {
	t.Helper()
	return At(filepath.Join(t.TempDir(), "ccc"))
}

func readState(t testing.TB, d Dir, session string) State {
	t.Helper()
	s, err := d.Read(session)
	check(t, err)
	return s
}

func update(t *testing.T, d Dir, session string, change func(*State)) State {
	t.Helper()
	s, err := d.Update(t.Context(), session, noon, func(s *State) error { change(s); return nil })
	check(t, err)
	return s
}

func countOne(s *State) { s.Count++ }

// plant writes a state file as somebody else would.
func plant(t testing.TB, d Dir, session, text string) {
	t.Helper()
	check(t, os.MkdirAll(d.path, 0o700))
	check(t, os.WriteFile(d.StateFile(session), []byte(text), 0o600))
}

func stateText(t testing.TB, d Dir, session string) string {
	t.Helper()
	text, err := os.ReadFile(d.StateFile(session))
	check(t, err)
	return string(text)
}

func TestBegin(t *testing.T) {
	allowed, refused := &Review{AllowStop: true}, &Review{}
	tests := map[string]struct {
		state  State
		prompt string
		want   int // the iteration; negative: it is refused
	}{
		"first":                           {State{}, "", 1},
		"first of a prompt":               {State{}, "p1", 1},
		"one more":                        {State{Count: 3}, "", 4},
		"the last one":                    {State{Count: 9}, "", 10},
		"limit":                           {State{Count: 10}, "", -1},
		"over the limit":                  {State{Count: 11}, "", -1},
		"limit of the prompt":             {State{Count: 10, PromptID: "p1", Last: refused}, "p1", -1},
		"limit, then a new prompt":        {State{Count: 10, PromptID: "p1", Last: refused}, "p2", 1},
		"limit, nothing answered":         {State{Count: 10, PromptID: "p1"}, "p2", 1},
		"limit, prompt known only now":    {State{Count: 10, Last: allowed}, "p2", -1},
		"limit, prompt unknown now":       {State{Count: 10, PromptID: "p1", Last: allowed}, "", -1},
		"allowed, same prompt":            {State{Count: 3, PromptID: "p1", Last: allowed}, "p1", 4},
		"allowed, new prompt":             {State{Count: 3, PromptID: "p1", Last: allowed}, "p2", 1},
		"refused, new prompt":             {State{Count: 3, PromptID: "p1", Last: refused}, "p2", 4},
		"nothing answered, a new prompt":  {State{Count: 3, PromptID: "p1"}, "p2", 4},
		"allowed, prompt known only now":  {State{Count: 3, Last: allowed}, "p2", 4},
		"allowed, prompt unknown now":     {State{Count: 3, PromptID: "p1", Last: allowed}, "", 4},
		"allowed, at limit, same prompt":  {State{Count: 10, PromptID: "p1", Last: allowed}, "p1", -1},
		"allowed at limit, a new prompt":  {State{Count: 10, PromptID: "p1", Last: allowed}, "p2", 1},
		"a file with a count beyond sane": {State{Count: maxCount}, "", -1},
		"in a later series":               {State{Count: 14, From: 10, PromptID: "p2", Last: refused}, "p2", 5},
		"limit of a later series":         {State{Count: 20, From: 10, PromptID: "p2", Last: refused}, "p2", -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := tt.state, tt.state
			if tt.want >= 0 {
				want.Count++ // whatever the series, each review is one more
				want.From, want.PromptID = want.Count-tt.want, tt.prompt
			}
			if ok := got.Begin(tt.prompt, 10); ok != (tt.want >= 0) {
				t.Errorf("said %t", ok)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, limit := range []int{0, -1} {
		s := State{PromptID: "p1"}
		if s.Begin("p2", limit) {
			t.Errorf("a limit of %d lets one begin", limit)
		}
	}
}

func TestRecord(t *testing.T) {
	var s State
	s.Record(Review{At: noon, Feedback: "more", Cost: Cost{USD: 0.5, InputTokens: 10, OutputTokens: 1, CacheReadTokens: 7, CacheCreationTokens: 3}})
	last := Review{At: noon.Add(time.Second), PromptID: "p", Tree: "t", Conversation: "c", AllowStop: true, Status: "completed", DurationMS: 5, Cost: Cost{USD: 0.25, OutputTokens: 2}}
	s.Record(last)
	last.At = time.Date(2026, 11, 15, 11, 0, 1, 120_000_000, time.UTC)
	want := State{
		Reviews: 2, Refusals: 1, Last: &last,
		Spent: Cost{USD: 0.75, InputTokens: 10, OutputTokens: 3, CacheReadTokens: 7, CacheCreationTokens: 3},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCostsThatAreNone(t *testing.T) {
	for _, usd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		s := State{Spent: Cost{USD: 2, InputTokens: 5}}
		s.Record(Review{Cost: Cost{USD: usd, InputTokens: -5}})
		if want := (Cost{USD: 2, InputTokens: 5}); s.Spent != want || s.Last.Cost != (Cost{}) {
			t.Errorf("%v: %+v, %+v", usd, s.Spent, s.Last.Cost)
		}
	}
	huge := Cost{USD: math.MaxFloat64, OutputTokens: math.MaxInt64}
	if sum := huge.Plus(huge).Plus(huge); sum.USD != math.MaxFloat64 || sum.OutputTokens <= 0 {
		t.Errorf("%+v", sum)
	}
}

func TestFeedbackIsBounded(t *testing.T) {
	for _, feedback := range []string{strings.Repeat("审", maxFeedback), strings.Repeat("x", 10<<20), strings.Repeat("\xff", maxFeedback+1), "a\xffb"} {
		d := newDir(t)
		s := update(t, d, someSession, func(s *State) { s.Record(Review{Feedback: feedback}) })
		kept := s.Last.Feedback
		if len(kept) > maxFeedback || !utf8.ValidString(kept) {
			t.Errorf("kept %d bytes, valid %t", len(kept), utf8.ValidString(kept))
		}
		if got := readState(t, d, someSession); got.Damaged || got.Last.Feedback != kept {
			t.Errorf("%.20q… is not read back", feedback)
		}
	}
	if kept := bounded("ab审", 4); kept != "ab" {
		t.Errorf("got %q", kept)
	}
}

// The seed's four fields come first, as it names them.
func TestStateFile(t *testing.T) {
	d := newDir(t)
	if s := readState(t, d, someSession); cmp.Diff(State{SessionID: someSession}, s) != "" {
		t.Errorf("an absent state is %+v", s)
	}
	if _, err := os.Stat(d.path); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made something")
	}
	update(t, d, someSession, countOne)
	want := `{"session_id":"abc123","count":1,"created_at":"2026-11-15T11:00:00.120Z","updated_at":"2026-11-15T11:00:00.120Z"}` + "\n"
	if got := stateText(t, d, someSession); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	_, err := d.Update(t.Context(), someSession, noon.Add(time.Hour).Truncate(time.Second), func(s *State) error { s.Count++; return nil })
	check(t, err)
	want = `{"session_id":"abc123","count":2,"created_at":"2026-11-15T11:00:00.120Z","updated_at":"2026-11-15T12:00:00.000Z"}` + "\n"
	if got := stateText(t, d, someSession); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if runtime.GOOS == "windows" {
		return
	}
	modes := map[string]os.FileMode{d.path: 0o700, d.StateFile(someSession): 0o600, d.lockFile(someSession): 0o600}
	for path, want := range modes {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestEverythingIsReadBack(t *testing.T) {
	d := newDir(t)
	off := false
	written := update(t, d, someSession, func(s *State) {
		s.Count = 2
		s.Renew()
		s.Begin("p1", 10)
		s.Enabled = &off
		s.Told = "limit_reached"
		s.Record(Review{At: noon, PromptID: "p1", Tree: "t", Conversation: "c", Feedback: "<b> & \u2028 \"x\"\n", Status: "s", Cost: Cost{USD: 1.5, InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheCreationTokens: 4}, DurationMS: 9})
		s.SessionID = "another"
	})
	if diff := cmp.Diff(written, readState(t, d, someSession)); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
	var text map[string]any
	check(t, json.Unmarshal([]byte(stateText(t, d, someSession)), &text))
	for _, name := range names {
		if text[name] == nil {
			t.Errorf("%s is not in the file", name)
		}
		delete(text, name)
	}
	if len(text) > 0 || written.SessionID != someSession {
		t.Errorf("in the file but not in names: %v", text)
	}
}

func TestRefusedChange(t *testing.T) {
	d := newDir(t)
	refused := errors.New("refused")
	change := func(s *State) error { s.Count = 99; return refused }
	if _, err := d.Update(t.Context(), someSession, noon, change); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if exists(d.StateFile(someSession)) {
		t.Error("it was written")
	}
	for _, text := range []string{`{"count":1}`, `{"count":`} {
		plant(t, d, someSession, text)
		if _, err := d.Update(t.Context(), someSession, noon, change); !errors.Is(err, refused) {
			t.Errorf("got %v", err)
		}
		if got := stateText(t, d, someSession); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestStateWrittenByHand(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]struct {
		text string
		want State
	}{
		"seed":                  {`{"session_id":"abc123","count":3,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05.000Z"}`, State{Count: 3, CreatedAt: at, UpdatedAt: at}},
		"laid out, with a mark": {"\ufeff{\r\n  \"count\" : 3\r\n}\r\n", State{Count: 3}},
		"other zone, nanos":     {`{"created_at":"2026-01-02T05:04:05+02:00","updated_at":"2026-01-02T03:04:05.000000001Z"}`, State{CreatedAt: at, UpdatedAt: at.Add(1)}},
		"times that are none":   {`{"count":3,"created_at":"yesterday","updated_at":17}`, State{Count: 3}},
		"times of no kind":      {`{"count":3,"created_at":null,"updated_at":{}}`, State{Count: 3}},
		"nothing":               {`{}`, State{}},
		"null":                  {`{"count":null,"enabled":null,"session_id":"abc123"}`, State{}},
		"negative":              {`{"count":-3,"reviews":-1,"refusals":-1}`, State{}},
		"fraction":              {`{"count":3.9}`, State{Count: 3}},
		"exponent":              {`{"count":1e1}`, State{Count: 10}},
		"a series from above":   {`{"count":3,"series_from":9}`, State{Count: 3, From: 3}},
		"a series from below":   {`{"count":3,"series_from":-9}`, State{Count: 3}},
		"absurd":                {`{"count":1e9}`, State{Count: maxCount}},
		"beyond numbers":        {`{"count":1e999}`, State{Count: maxCount}},
		"as far below":          {`{"count":-1e999}`, State{}},
		"negative cost":         {`{"spent":{"usd":-4,"input_tokens":-1,"output_tokens":3}}`, State{Spent: Cost{OutputTokens: 3}}},
		"other case is another": {`{"count":1,"COUNT":7,"Session_ID":"x"}`, State{Count: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			plant(t, d, someSession, tt.text)
			tt.want.SessionID = someSession
			if diff := cmp.Diff(tt.want, readState(t, d, someSession)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if s := update(t, d, someSession, func(*State) {}); s.Damaged || s.CreatedAt.IsZero() || s.Count != tt.want.Count {
				t.Errorf("updated to %+v", s)
			}
		})
	}
}

func TestMembersOfOthersSurvive(t *testing.T) {
	d := newDir(t)
	plant(t, d, someSession, `{"note":"<mine>","count":1,"newer":{"a":[1,12345678901234567890.0]},"COUNT":7,"":null}`)
	for range 2 {
		update(t, d, someSession, countOne)
	}
	want := `{"session_id":"abc123","count":3,"created_at":"2026-11-15T11:00:00.120Z","updated_at":"2026-11-15T11:00:00.120Z",` +
		`"":null,"COUNT":7,"newer":{"a":[1,12345678901234567890.0]},"note":"<mine>"}` + "\n"
	if got := stateText(t, d, someSession); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// damages are ways in which a file is not a state of someSession.
func damages() map[string]string {
	whole := `{"session_id":"abc123","count":3}`
	return map[string]string{
		"empty":           "",
		"half":            whole[:len(whole)/2],
		"twice":           whole + whole,
		"garbage":         "\x00\xff{",
		"no object":       "[]",
		"null":            "null",
		"another's":       `{"session_id":"abc124","count":3}`,
		"no id":           `{"session_id":7,"count":3}`,
		"no count":        `{"session_id":"abc123","count":"3"}`,
		"a list of it":    `{"count":[3]}`,
		"no switch":       `{"count":3,"enabled":"yes"}`,
		"no cost":         `{"count":3,"spent":"much"}`,
		"infinite cost":   `{"count":3,"spent":{"usd":1e999}}`,
		"over the size":   whole + strings.Repeat(" ", maxState),
		"deep":            `{"x":` + strings.Repeat("[", 500_000),
		"other time last": `{"count":3,"last":{"at":"noon"}}`,
	}
}

func TestDamageIsNoticedAndKept(t *testing.T) {
	for name, text := range damages() {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			plant(t, d, someSession, text)
			if diff := cmp.Diff(State{SessionID: someSession, Damaged: true}, readState(t, d, someSession)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			if s := update(t, d, someSession, countOne); !s.Damaged || s.Count != 1 {
				t.Errorf("updated to %+v", s)
			}
			if s := readState(t, d, someSession); s.Damaged || s.Count != 1 {
				t.Errorf("then read as %+v", s)
			}
			if kept, err := os.ReadFile(d.StateFile(someSession) + ".damaged"); err != nil || string(kept) != text {
				t.Errorf("kept %.50q, %v", kept, err)
			}
		})
	}
}

func TestDamagedFilesAreBounded(t *testing.T) {
	d := newDir(t)
	for i := range maxDamaged + 5 {
		plant(t, d, someSession, strings.Repeat("x", i))
		update(t, d, someSession, countOne)
	}
	files, err := filepath.Glob(d.StateFile(someSession) + ".damaged*")
	check(t, err)
	if len(files) != maxDamaged {
		t.Errorf("kept %q", files)
	}
	var sizes []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		sizes = append(sizes, len(text))
	}
	slices.Sort(sizes)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, maxDamaged + 4}; !slices.Equal(sizes, want) {
		t.Errorf("kept those of %v bytes, want %v", sizes, want)
	}
}

// What could not be read back is not written.
func TestTooLargeAState(t *testing.T) {
	d := newDir(t)
	update(t, d, someSession, countOne)
	before := stateText(t, d, someSession)
	_, err := d.Update(t.Context(), someSession, noon, func(s *State) error { s.PromptID = strings.Repeat("x", 10<<20); return nil })
	if err == nil || !strings.Contains(err.Error(), "over its limit") || len(err.Error()) > 200 {
		t.Errorf("got %v", err)
	}
	if got := stateText(t, d, someSession); got != before {
		t.Errorf("left %.100s", got)
	}
}

// What is as large as may be is read back.
func TestLargestState(t *testing.T) {
	smallest, err := encode(State{SessionID: someSession, PromptID: "x"}, nil)
	check(t, err)
	for over, fits := range map[int]bool{0: true, 1: false} {
		text, err := encode(State{SessionID: someSession, PromptID: strings.Repeat("x", 1+maxState-len(smallest)+over)}, nil)
		if _, _, read := decode(text, someSession); (err == nil) != fits || read != fits {
			t.Errorf("%d bytes over: %v, read %t", over, err, read)
		}
	}
}

// A damaged state that cannot be kept is not written over.
func TestDamageThatCannotBeKept(t *testing.T) {
	d := newDir(t)
	plant(t, d, someSession, "{")
	check(t, os.MkdirAll(d.StateFile(someSession)+".damaged/full", 0o700))
	for n := 2; n <= maxDamaged; n++ {
		check(t, os.MkdirAll(fmt.Sprintf("%s.damaged-%d/full", d.StateFile(someSession), n), 0o700))
	}
	_, err := d.Update(t.Context(), someSession, noon, func(*State) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "move the damaged state aside: ") || stateText(t, d, someSession) != "{" {
		t.Errorf("%v, and it holds %s", err, stateText(t, d, someSession))
	}
}

func TestUpdateEndsWithItsContext(t *testing.T) {
	d := newDir(t)
	unlock, err := lockfile.Acquire(t.Context(), d.lockFile(someSession), lockPatience)
	check(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Update(ctx, someSession, noon, func(*State) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	update(t, d, "another", countOne) // which has its own lock
}

func TestSessionsAreApart(t *testing.T) {
	d := newDir(t)
	ids := []string{"a", "a-output", "a.json", "a.json.damaged", "a.lock", "lock"}
	for i, id := range ids {
		for range i + 1 {
			update(t, d, id, countOne)
		}
		plant(t, d, id+".other", "damaged")
		update(t, d, id+".other", countOne)
		file, err := d.OpenOutput(id)
		check(t, err)
		check(t, file.Close())
	}
	for i, id := range ids {
		if s := readState(t, d, id); s.Count != i+1 || s.Damaged {
			t.Errorf("%s: %+v", id, s)
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"session_id":"abc123","count":3,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05.000Z"}`))
	f.Add([]byte(`{"count":1e999,"x":{"y":[null]},"last":{"at":"2026-01-02T03:04:05Z","feedback":"\ud800"}}`))
	f.Add([]byte("\ufeff{\"enabled\":true,\"\":1,\"COUNT\":2,\"count\":1,\"count\":2}"))
	f.Add([]byte(`{"created_at":"9999-12-31T23:59:59-23:00","updated_at":"0000-01-01T00:00:00+23:00"}`))
	for _, text := range damages() {
		f.Add([]byte(text[:min(len(text), 1000)]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, others, ok := decode(text, someSession)
		if !ok {
			return
		}
		if s.SessionID != someSession || s.Count < 0 || s.Count > maxCount || s.Reviews < 0 || s.Refusals < 0 {
			t.Fatalf("read %+v", s)
		}
		written, err := encode(s, others)
		if err != nil {
			return
		}
		again, rest, ok := decode(written, someSession)
		if !ok {
			t.Fatalf("%s was written and is damaged", written)
		}
		twice, err := encode(again, rest)
		check(t, err)
		if len(rest) != len(others) || s.Count != again.Count || string(twice) != string(written) && inYears(s) {
			t.Errorf("%s became %s", written, twice)
		}
	})
}

// inYears reports whether the times can be written as RFC 3339 in UTC.
func inYears(s State) bool {
	ok := func(at time.Time) bool { return at.Year() >= 0 && at.Year() <= 9999 }
	return ok(s.CreatedAt) && ok(s.UpdatedAt)
}
