package logdir

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStateIsReadBack(t *testing.T) {
	names := rapid.SampledFrom([]string{"", "main", "HEAD", "a\nb", "caf\xe9", "\xff\xfe/é", "\ufffd"})
	rapid.Check(t, func(rt *rapid.T) {
		d := tempDir(t)
		want := State{
			LastRunCompletedAt: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(rt, "time")).UTC(),
			Branch:             names.Draw(rt, "branch"),
			Commit:             "abc",
			Status:             rapid.SampledFrom([]string{"", "failed"}).Draw(rt, "status"),
			Run:                rapid.IntRange(0, 9).Draw(rt, "run"),
		}
		if rapid.Bool().Draw(rt, "looked") {
			want.CommitInBase = new(rapid.Bool().Draw(rt, "in base"))
		}
		check(t, d.WriteState(want))
		got, found := d.ReadState()
		if !found || !got.OnBranch(want.Branch) || got.OnBranch(want.Branch+"x") {
			rt.Fatalf("found %t: branch %q, want %q", found, got.Branch, want.Branch)
		}
		got.Branch = want.Branch
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestSeedExecutionStateFields(t *testing.T) {
	d := tempDir(t)
	check(t, d.WriteState(State{LastRunCompletedAt: noon, Branch: "feature-a", Commit: "abc123"}))
	want := "{\n  \"last_run_completed_at\": \"2026-03-04T12:00:00Z\",\n  \"branch\": \"feature-a\",\n  \"commit\": \"abc123\"\n}\n"
	if got := read(t, d.file(".execution_state")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestRuling19HandWrittenState(t *testing.T) {
	const whole = `{"last_run_completed_at": "2026-03-04T12:00:00.000Z", "branch": "b", "commit": "c"}`
	without := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	tests := []struct {
		name, text string
		found      bool
	}{
		{"the seed's three fields", whole, true},
		{"with a zone", without("00.000Z", "00+02:00"), true},
		{"fields of the older tool", without(`{`, `{"working_tree_ref":"x",`), true},
		{"unborn", without(`"c"`, `""`), true},
		{"empty", "", false},
		{"half", whole[:40], false},
		{"no object", "[]", false},
		{"null", "null", false},
		{"no time", without("last_run", "first_run"), false},
		{"no branch", without("branch", "brunch"), false},
		{"no commit", without("commit", "comet"), false},
		{"null commit", without(`"c"`, `null`), false},
		{"commit is a number", without(`"c"`, `1`), false},
		{"time is a number", without(`"2026-03-04T12:00:00.000Z"`, `1`), false},
		{"time is no time", without("2026-03-04T", "yesterday "), false},
		{"ours of the wrong type", without(`{`, `{"run":"x",`), false},
		{"10 MB", whole + strings.Repeat(" ", 10<<20), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tempDir(t)
			write(t, d.file(stateName), tt.text)
			if got, found := d.ReadState(); found != tt.found || !found && got != (State{}) {
				t.Errorf("got %+v, %t", got, found)
			}
		})
	}
	if _, found := tempDir(t).ReadState(); found {
		t.Error("found where there is none")
	}
	d := tempDir(t)
	check(t, os.MkdirAll(d.file(stateName), 0o755))
	if _, found := d.ReadState(); found {
		t.Error("a directory was read")
	}
	if err := d.WriteState(State{}); err == nil || !strings.Contains(err.Error(), stateName) {
		t.Errorf("writing over a directory says %v", err)
	}
}

func TestRuling19AFutureTimestampCountsAsAbsent(t *testing.T) {
	for ago, ok := range map[time.Duration]bool{0: true, time.Minute: true, 1000 * time.Hour: true, -time.Nanosecond: false, -time.Hour: false} {
		elapsed, got := State{LastRunCompletedAt: noon.Add(-ago)}.Elapsed(noon)
		if got != ok || ok && elapsed != ago {
			t.Errorf("%v ago: %v, %t", ago, elapsed, got)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"last_run_completed_at":"2026-03-04T12:00:00Z","branch":"b","commit":"c","run":1,"commit_in_base":true}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, ok := parseState(text); !ok && s != (State{}) {
			t.Errorf("refused, but %+v", s)
		}
	})
}
