package send

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A letter for another session is typed there; a target that is busy is tried again.
func TestSession(t *testing.T) {
	o := newOffice(t, `{"transport":"session","session":"boss"}`)
	var typed []string
	o.Type = func(_ context.Context, session, key, text string) error {
		typed = append(typed, session, key, text)
		if len(typed) == 3 {
			return errors.New("session boss is busy")
		}
		return nil
	}
	l := letter(1)
	o.put(l)
	if wait, reason, _ := o.try(); wait < time.Second || wait > 2*time.Second || reason != "session boss is busy" {
		t.Errorf("tried again in %s: %q", wait, reason)
	}
	o.run()
	if diff := cmp.Diff([]string{"boss", "key-1", l.Body, "boss", "key-1", l.Body}, typed); diff != "" {
		t.Error(diff)
	}
}

type refusal bool

func (r refusal) Error() string { return fmt.Sprint("refusal: ", bool(r)) }
func (r refusal) Refused() bool { return bool(r) }

// What is refused for good waits for a person.
func TestSessionThatRefuses(t *testing.T) {
	for err, least := range map[error]time.Duration{
		fmt.Errorf("type: %w", refusal(true)):  time.Minute,
		fmt.Errorf("type: %w", refusal(false)): time.Second,
	} {
		o := newOffice(t, `{"transport":"session","session":"boss"}`)
		o.Type = func(context.Context, string, string, string) error { return err }
		o.put(letter(1))
		if wait, reason, dead := o.try(); wait < least || wait > least+least/10 || reason != err.Error() || dead != "" {
			t.Errorf("%v: tried again in %s: %q, %q", err, wait, reason, dead)
		}
	}
}

// What the disk refuses is written when it no longer does; until then nothing else is
// sent.
func TestInsist(t *testing.T) {
	o := newOffice(t, `{"transport":"session","session":"boss"}`)
	full := 3
	c := carrier{Sender: o.Sender}
	err := c.insist(t.Context(), func() error {
		if full--; full >= 0 {
			return errors.New("no space left on device")
		}
		return nil
	})
	if err != nil || len(o.waits) != 3 || strings.Count(o.logged(), "no space left on device") != 3 {
		t.Errorf("%v after %v\n%s", err, o.waits, o.logged())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.insist(ctx, func() error { return errors.New("full") }); err == nil {
		t.Error("gave up without a word")
	}
}

func TestPause(t *testing.T) {
	for _, test := range []struct {
		cause error
		want  []time.Duration // after so many tries that failed before
	}{
		{errors.New("x"), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}},
		{fixable("x"), []time.Duration{time.Minute, time.Minute}},
		{&failure{pace: costly}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, 64 * time.Second, 128 * time.Second, 256 * time.Second, 512 * time.Second, 10 * time.Minute, 10 * time.Minute}},
		{&failure{after: 5 * time.Second}, []time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second, 8 * time.Second}},
	} {
		for before, want := range test.want {
			if d := pauseAfter(before, test.cause); d < want || d > want+want/10 {
				t.Errorf("%v after %d: %s, not %s", test.cause, before, d, want)
			}
		}
		if d := pauseAfter(1<<40, test.cause); d <= 0 || d > obeyed+obeyed/10 {
			t.Errorf("%v after very many: %s", test.cause, d)
		}
	}
}

func TestLog(t *testing.T) {
	o := newOffice(t, `{"transport":"session","session":"boss"}`)
	l := letter(1)
	l.Session = "two\nlines\x1b[2J"
	o.logTry(try{letter: l, note: "why\nso"}, "failed")
	want := "2026-03-01T12:00:00Z key-1 stop of session \"two\\nlines\\x1b[2J\" for \"warden\" by no transport: failed: why so\n"
	if diff := cmp.Diff(want, o.logged()); diff != "" {
		t.Error(diff)
	}
	path := filepath.Join(o.StateDir, "logs", "wake.log")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	writeFile(t, path, strings.Repeat("x", 1<<20+1), 0o600)
	o.log("new")
	if got := o.logged(); got != "2026-03-01T12:00:00Z new\n" {
		t.Errorf("the log was not started anew: %d bytes", len(got))
	}
}

// Whatever a program prints is read to its end, and text in a string is no JSON.
func FuzzOutput(f *testing.F) {
	for _, text := range []string{
		``, `{`, `{"meta":{"transport":"embedded"}}`, `{"meta":{"fallbackFrom":""}}`, `[{"meta":null}]`, `x {"a":[{"meta":{"fallbackFrom":"g"}}]} y`,
		`{"status":"in_flight"}`, `{"status":5,"runId":5}`, "{\"text\":\"{\\\"meta\\\":{\\\"transport\\\":\\\"embedded\\\"}}\"}",
	} {
		f.Add([]byte(text), []byte("falling back"))
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		o := output{stdout, stderr}
		_ = o.inFlight()
		_ = o.delivered()
		_ = o.reason()
		_ = o.unknownAgent()
		if !o.embedded() && (output{stdout, append(stderr, "\nEMBEDDED FALLBACK"...)}).embedded() == false {
			t.Error("a fallback was not seen")
		}
		quoted := encode(map[string]string{"text": strings.ToValidUTF8(string(stdout), "")})
		if (output{quoted, nil}).embedded() || (output{quoted, nil}).inFlight() {
			t.Errorf("text is taken for JSON: %s", quoted)
		}
	})
}
