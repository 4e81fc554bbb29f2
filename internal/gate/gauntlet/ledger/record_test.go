package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// gate is a gate of a test: "check:.:a" with the definition "d".
func gate(name string, result Result, violations ...review.Violation) GateRun {
	kind, _, _ := strings.Cut(name, ":")
	return GateRun{Job: name, Kind: kind, Definition: "d", Result: result, Violations: violations, Message: "m"}
}

func violation(id string, standing review.Standing) review.Violation {
	return review.Violation{ID: id, File: "f.go", Issue: "issue " + id, Status: standing}
}

// whole is a run of all gates on a tree.
func whole(tree string, gates ...GateRun) Run {
	return Run{Now: noon, Tree: tree, MaxRetries: 3, Whole: true, Answers: true, Gates: gates}
}

func partial(tree string, gates ...GateRun) Run {
	run := whole(tree, gates...)
	run.Whole = false
	return run
}

// told is an outcome in short.
func told(o Conclusion) string {
	switch {
	case o.LimitReached:
		return fmt.Sprintf("limit %d new=%t", o.Failures, o.NewLimit)
	case o.Failed:
		return fmt.Sprintf("failed %d", o.Failures)
	case len(o.Warnings) > 0:
		return fmt.Sprintf("warnings %d", o.Failures)
	}
	return fmt.Sprintf("passed %d", o.Failures)
}

func wantTold(t *testing.T, got Conclusion, want string) {
	t.Helper()
	if told(got) != want {
		t.Errorf("got %s, want %s: %+v", told(got), want, got)
	}
}

func wantOpen(t *testing.T, s *State, jobs ...string) {
	t.Helper()
	var open []string
	for _, f := range s.Open {
		open = append(open, f.Job)
	}
	if diff := cmp.Diff(jobs, open); diff != "" {
		t.Errorf("open (-want +got)\n%s", diff)
	}
}

const (
	lint    = "check:.:lint"
	test    = "check:.:test"
	quality = "review:.:quality"
)

func TestRuling118Retries(t *testing.T) {
	tests := []struct {
		name       string
		maxRetries int
		runs       string // one letter a run: f(ailing), p(assing), c(lean); capitals change the tree; > is a person's prompt
		want       string
	}{
		{"three retries", 3, "fFFF", "failed 1, failed 2, failed 3, limit 4 new=true"},
		{"on one tree too", 3, "ffff", "failed 1, failed 2, failed 3, limit 4 new=true"},
		{"at the limit an unchanged tree stays", 1, "fFff", "failed 1, limit 2 new=true, limit 2 new=false, limit 2 new=false"},
		{"at the limit a changed tree stays, without a person's prompt", 1, "fFFF", "failed 1, limit 2 new=true, limit 2 new=false, limit 2 new=false"},
		{"at the limit a person's prompt alone does nothing", 1, ">fF>f", "failed 1, limit 2 new=true, limit 2 new=false"},
		{"after the limit a person's prompt and a changed tree start anew", 1, ">fF>FF", "failed 1, limit 2 new=true, failed 1, limit 2 new=true"},
		{"a prompt before the limit does not", 2, ">f>F>FF", "failed 1, failed 2, limit 3 new=true, limit 3 new=false"},
		{"none: the first is the limit", 0, ">ff>F", "limit 1 new=true, limit 1 new=false, limit 1 new=true"},
		{"a pass ends it", 2, "fFPFF", "failed 1, failed 2, passed 0, failed 1, failed 2"},
		{"a pass ends the limit", 0, "fPF", "limit 1 new=true, passed 0, limit 1 new=true"},
		{"a clean ends it", 1, "fcFcF", "failed 1, failed 1, failed 1"},
		{"a clean ends the limit, but closes nothing", 0, "fcf", "limit 1 new=true, limit 1 new=true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s State
			var got []string
			tree, prompts := 0, 0
			for _, what := range tt.runs {
				if what == '>' {
					prompts++
					continue
				}
				if what == 'c' {
					s.EndSeries()
					wantOpen(t, &s, lint)
					continue
				}
				if what == 'F' || what == 'P' {
					tree++
				}
				result := Failed
				if what == 'P' {
					result = Passed
				}
				run := whole(fmt.Sprint(tree), gate(lint, result))
				run.MaxRetries = tt.maxRetries
				if prompts > 0 {
					run.Prompt = fmt.Sprint(prompts)
				}
				got = append(got, told(s.Record(run)))
			}
			if diff := cmp.Diff(strings.Split(tt.want, ", "), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Nobody can say that a tree is unchanged which git cannot tell exactly.
func TestRuling118AfterTheLimitAnUnknownTreeStartsAnew(t *testing.T) {
	var s State
	for i, want := range []string{"failed 1", "limit 2 new=true", "failed 1", "limit 2 new=true"} {
		run := whole("", gate(lint, Failed))
		run.MaxRetries, run.Prompt = 1, fmt.Sprint(i/2)
		wantTold(t, s.Record(run), want)
	}
}

func TestRuling14AnOpenGateThatCannotRunStaysFailed(t *testing.T) {
	for _, result := range []Result{CouldNotRun, NotStarted, Proven} {
		var s State
		wantTold(t, s.Record(whole("A", gate(lint, result))), "passed 0")
		wantTold(t, s.Record(whole("A", gate(lint, Failed))), "failed 1")
		wantTold(t, s.Record(whole("B", gate(lint, result))), "failed 2")
		if f, _ := s.Failure(lint); f.Tree != "A" {
			t.Errorf("%s: it last failed on %s, want A", result, f.Tree)
		}
		wantTold(t, s.Record(whole("B", gate(lint, Passed))), "passed 0")
		wantOpen(t, &s)
	}
}

func TestRuling117AnOpenCheckClosesByPassing(t *testing.T) {
	tests := []struct {
		name       string
		tree, def  string
		outcome    string
		warning    string
		provenThen bool
	}{
		{"on a later tree", "B", "d", "passed 0", "", true},
		{"on the same tree", "A", "d", "warnings 0", "flaky", false},
		{"on a tree that is not known", "", "d", "passed 0", "", true},
		{"its definition was changed", "B", "d2", "warnings 0", "definition was changed", true},
		{"its definition alone was changed", "A", "d2", "warnings 0", "definition was changed", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s State
			s.Record(whole("A", gate(lint, Failed)))
			pass := gate(lint, Passed)
			pass.Definition, pass.Key = tt.def, "key"
			out := s.Record(whole(tt.tree, pass))
			wantTold(t, out, tt.outcome)
			if text := strings.Join(out.Warnings, "\n"); !strings.Contains(text, tt.warning) || text != "" && !strings.Contains(text, lint) {
				t.Errorf("warned of %q", text)
			}
			proof, proven := s.Proof("key", noon)
			if proven != tt.provenThen {
				t.Errorf("proven: %t", proven)
			}
			if diff := cmp.Diff(out.Warnings, proof.Warnings); proven && diff != "" {
				t.Errorf("the proof forgot warnings: %s", diff)
			}
			wantOpen(t, &s)
		})
	}
}

func TestRuling117ARemovedGateClosesWithAWarning(t *testing.T) {
	var s State
	s.Record(whole("A", gate(lint, Failed)))
	run := whole("B", gate(test, Passed))
	run.Removed = []string{lint, "check:.:never-there"}
	out := s.Record(run)
	wantTold(t, out, "warnings 0")
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], lint) {
		t.Errorf("warned of %q", out.Warnings)
	}
}

func TestRuling117ReviewsCloseByFixOrSkip(t *testing.T) {
	open, other, skipped := violation("1", review.New), violation("2", review.New), violation("1", review.Skipped)
	tests := []struct {
		name    string
		tree    string
		result  GateRun
		outcome string
		left    []string
	}{
		{"fixed on a later tree", "B", gate(quality, Passed), "passed 0", nil},
		{"found again", "B", gate(quality, Failed, open), "failed 2", []string{"1"}},
		{"found again, whatever the result says", "B", gate(quality, Passed, open), "failed 2", []string{"1"}},
		{"re-run on an unchanged tree", "A", gate(quality, Passed), "failed 2", []string{"1"}},
		{"another one on an unchanged tree", "A", gate(quality, Failed, other), "failed 2", []string{"2", "1"}},
		{"skipped on an unchanged tree", "A", gate(quality, Passed, skipped), "passed 0", nil},
		{"skipped, and another found", "B", gate(quality, Failed, skipped, other), "failed 2", []string{"2"}},
		{"could not run", "B", gate(quality, CouldNotRun), "failed 2", []string{"1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s State
			s.Record(whole("A", gate(quality, Failed, open)))
			wantTold(t, s.Record(whole(tt.tree, tt.result)), tt.outcome)
			f, _ := s.Failure(quality)
			var left []string
			for _, v := range f.Violations {
				left = append(left, v.ID)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left open (-want +got)\n%s", diff)
			}
		})
	}
}

func TestSkipsAreKeptUntilTheSeriesEnds(t *testing.T) {
	var s State
	s.Record(whole("A", gate(quality, Failed, violation("abc", review.New))))
	_, v, err := s.Violation("ab")
	check(t, err)
	s.Mark(v.ID, review.Skipped, "by design")
	// Decided on while the review ran, which found it again.
	out := s.Record(whole("A", gate(quality, Passed, violation("abc", review.New))))
	wantTold(t, out, "passed 0")
	kept := s.SkippedBy(quality)
	if len(kept) != 1 || kept[0].Result != "by design" || len(s.SkippedBy(lint)) != 0 {
		t.Errorf("kept %+v", kept)
	}
	s.Record(whole("B", gate(quality, Passed, kept...)))
	if again := s.SkippedBy(quality); len(again) != 1 {
		t.Errorf("kept %+v", again)
	}
	s.EndSeries()
	if again := s.SkippedBy(quality); len(again) != 0 {
		t.Errorf("kept %+v after the series", again)
	}
}

func TestSkipsOfTwoReviewsAreApart(t *testing.T) {
	var s State
	v := violation("1", review.Skipped)
	s.Record(whole("A", gate(quality, Passed, v), gate("review:.:security", Passed, v)))
	if len(s.SkippedBy(quality)) != 1 || len(s.SkippedBy("review:.:security")) != 1 {
		t.Errorf("kept %+v", s.Skipped)
	}
}

func TestRememberedSkipsAreBounded(t *testing.T) {
	var s State
	for i := range maxSkipped + 7 {
		s.Record(whole("A", gate(quality, Passed, violation(fmt.Sprint(i), review.Skipped))))
	}
	if len(s.Skipped) != maxSkipped || s.Skipped[0].Violation.ID != "7" {
		t.Errorf("%d are kept, from %+v", len(s.Skipped), s.Skipped[0])
	}
}

func TestPartialRunsLeaveTheRestAlone(t *testing.T) {
	var s State
	s.Record(whole("A", gate(lint, Failed), gate(test, Failed)))
	wantTold(t, s.Record(partial("B", gate(lint, Passed))), "passed 1") // the series goes on
	wantOpen(t, &s, test)
	wantTold(t, s.Record(partial("B", gate(quality, Passed))), "passed 1")
	wantTold(t, s.Record(partial("C", gate(test, Failed))), "failed 2")
	wantTold(t, s.Record(whole("D", gate(lint, Passed))), "failed 3") // whole, and test is open
	wantTold(t, s.Record(partial("E", gate(test, Passed))), "passed 0")
	wantOpen(t, &s)
}

// A gate that failed without having judged the tree has not failed on it.
func TestAFailureThatJudgedNothingIsOfNoTree(t *testing.T) {
	var s State
	failed := gate(lint, Failed)
	failed.Unseen = true
	s.Record(whole("A", failed))
	if f, open := s.Failure(lint); !open || f.Tree != "" {
		t.Errorf("it is open: %t, and failed on %q", open, f.Tree)
	}
	wantTold(t, s.Record(whole("A", gate(lint, Passed))), "passed 0")
}

// A result is shown after it was recorded.
func TestARunIsRecordedAsItIs(t *testing.T) {
	var s State
	s.Record(whole("A", gate(quality, Failed, violation("1", review.New))))
	s.Mark("1", review.Skipped, "")
	run := whole("A", gate(quality, Failed, violation("1", review.New)))
	s.Record(run)
	if got := run.Gates[0].Violations[0]; got.Status != review.New {
		t.Errorf("the run says now: %+v", got)
	}
}

func TestLogsThatMoveAreThoseThatAreKept(t *testing.T) {
	var s State
	kept, other := gate(lint, Failed), gate(test, Failed)
	kept.Log, kept.Kept, other.Log = "a", "b", "c"
	s.Record(whole("A", kept, other))
	s.LogsMoved()
	for job, want := range map[string]string{lint: "b", test: "c"} {
		if f, _ := s.Failure(job); f.Log != want {
			t.Errorf("%s: %q", job, f.Log)
		}
	}
}

func TestAFailureKeepsItsStart(t *testing.T) {
	var s State
	later := whole("B", gate(lint, Failed), gate(test, Failed))
	later.Now = noon.Add(time.Hour)
	s.Record(whole("A", gate(lint, Failed)))
	s.Record(later)
	f, _ := s.Failure(lint)
	if !f.Since.Equal(noon) || !f.Last.Equal(later.Now) || f.Tree != "B" {
		t.Errorf("got %+v", f)
	}
	wantOpen(t, &s, lint, test)
}

func TestDamageLastsUntilEveryGateWasSeen(t *testing.T) {
	s := State{Damaged: true}
	for _, run := range []Run{
		partial("A", gate(lint, Passed)),
		whole("A", gate(lint, Passed), gate(test, CouldNotRun)),
		whole("A", gate(lint, Failed), gate(test, NotStarted)),
	} {
		if s.Record(run); !s.Damaged {
			t.Errorf("forgotten after %+v", run)
		}
	}
	if s.Record(whole("A", gate(lint, Failed), gate(test, Proven))); s.Damaged {
		t.Error("still damaged after a whole run")
	}
	if s.Record(whole("A", gate(test, CouldNotRun))); s.Damaged {
		t.Error("damaged by a gate that could not run")
	}
}

// A folder's name need not be UTF-8, and JSON cannot hold what is not.
func TestJobsWithBytesThatJSONCannotHold(t *testing.T) {
	const job = "check:caf\xe9\xff:lint"
	var fresh State
	if fresh.Record(whole("A", gate(job, Failed))); !fresh.IsOpen(job) {
		t.Errorf("%q is not open: %+v", job, fresh.Open)
	}
	l := Open(t.TempDir(), t.TempDir())
	record := func(run Run) (out Conclusion) {
		check(t, l.Update(t.Context(), func(s *State) error { out = s.Record(run); return nil }))
		return out
	}
	wantTold(t, record(whole("A", gate(job, Failed))), "failed 1")
	s, err := l.Read()
	check(t, err)
	if !s.IsOpen(job) {
		t.Errorf("%q is not open: %+v", job, s.Open)
	}
	wantTold(t, record(whole("B", gate(job, Failed))), "failed 2")
	wantTold(t, record(whole("C", gate(job, Passed))), "passed 0")
}
