package review

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 500, time.UTC)

func TestQuota(t *testing.T) {
	q := quotas{filepath.Join(t.TempDir(), "state")}
	if until := q.until("claude", noon); !until.IsZero() {
		t.Errorf("cooling until %v before anything was said", until)
	}
	check(t, q.usedUp("claude", noon))
	tests := []struct {
		adapter string
		at      time.Duration
		cooling bool
	}{
		{"claude", 0, true},
		{"claude", coolDown - time.Second, true},
		{"claude", coolDown, false},
		{"claude", 48 * time.Hour, false},
		{"claude", -time.Minute, false}, // the clock was turned back: it may never come
		{"codex", 0, false},
	}
	for _, tt := range tests {
		if got := !q.until(tt.adapter, noon.Add(tt.at)).IsZero(); got != tt.cooling {
			t.Errorf("%s after %v: cooling %t", tt.adapter, tt.at, got)
		}
	}
	check(t, q.usedUp("codex", noon.Add(time.Minute)))
	check(t, q.back("claude", noon.Add(time.Minute)))
	if q.until("codex", noon.Add(time.Minute)).IsZero() || !q.until("claude", noon.Add(time.Minute)).IsZero() {
		t.Error("one reviewer's quota is taken for another's")
	}
}

func TestDamagedQuotasDoNotCount(t *testing.T) {
	stamp := noon.Format(time.RFC3339)
	for text, cooling := range map[string]bool{
		"": false, "{": false, "null": false, "[]": false, `"claude"`: false, "\x00\xff": false,
		`{"claude":1,"codex":null}`:                   false,
		`{"claude":"yesterday"}`:                      false,
		`{"claude":"9999-12-31T23:59:59Z"}`:           false,
		`{"claude":"` + stamp + `","codex":{"x":[]}}`: true,
	} {
		q := quotas{t.TempDir()}
		check(t, os.WriteFile(q.path(), []byte(text), 0o600))
		if got := !q.until("claude", noon).IsZero(); got != cooling {
			t.Errorf("%s: cooling %t", text, got)
		}
		check(t, q.usedUp("gemini", noon))
		if q.until("gemini", noon).IsZero() || q.until("claude", noon).IsZero() == cooling {
			t.Errorf("%s is not written anew", text)
		}
	}
}

func TestTwoWritersLoseNothing(t *testing.T) {
	dir := t.TempDir()
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			if err := (quotas{dir}).usedUp(fmt.Sprint("r", i), noon); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if got := len(quotas{dir}.load(noon)); got != 8 {
		t.Errorf("%d of 8 are remembered", got)
	}
}

// useUpForever is another process; it says when it has written.
func useUpForever(args []string) error {
	for i := 0; ; i++ {
		if err := (quotas{args[0]}).usedUp("other", noon); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

func TestQuotasSurviveAKilledWriter(t *testing.T) {
	q := quotas{t.TempDir()}
	check(t, q.usedUp("claude", noon))
	for round := range 5 {
		processtest.Kill(t, round, 4*time.Millisecond, "use up", q.dir)
		if q.until("claude", noon).IsZero() || q.until("other", noon).IsZero() {
			t.Error("something was lost")
		}
		check(t, q.usedUp("claude", noon)) // and nothing is locked
	}
}

func TestSaysLimit(t *testing.T) {
	prompt := []byte("+ // shown when the usage limit is reached\n+ print(\"quota exceeded\")\n")
	tests := []struct {
		output string
		want   bool
	}{
		{"", false},
		{"segmentation fault", false},
		{"Claude AI usage limit reached|1760000000", true},
		{"some words\nYou've hit your session limit · resets 3pm\n", true},
		{"ERROR: Quota exceeded for metric x", true},
		{"Your quota will reset after 3h", true},
		{"Credit balance is too low", true},
		{"You're out of extra usage", true},
		{"Your org is out of usage · add funds", true},
		{"API Error: Server is temporarily limiting requests (not your usage limit)", false},
		{"user\n+ // shown when the usage limit is reached\n+ print(\"quota exceeded\")\nFatal error", false},
		{"+ // shown when the usage limit is reached\nError: usage limit reached", true},
	}
	for _, tt := range tests {
		if line, got := saysLimit(tt.output, prompt); got != tt.want || got && strings.Contains(line, "\n") {
			t.Errorf("%q: %t (%q)", tt.output, got, line)
		}
	}
}
