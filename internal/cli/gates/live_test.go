package gates

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/project/config"
)

func testJob(kind gauntlet.Kind, name, entry string) *gauntlet.Job {
	job := &gauntlet.Job{Kind: kind, Entry: entry}
	if kind == gauntlet.KindCheck {
		job.Check = &config.Check{Gate: config.Gate{Name: name}}
	} else {
		job.Review = &config.Review{Gate: config.Gate{Name: name}}
	}
	return job
}

// standing is a view whose clock a test moves.
func standing(now *time.Time) *live {
	return &live{now: func() time.Time { return *now }, begun: *now, byID: map[string]*liveGate{}}
}

func TestFrame(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := standing(&now)
	want := func(width, height int, lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, l.frame(width, height)); diff != "" {
			t.Errorf("%dx%d:\n%s", width, height, diff)
		}
	}
	want(40, 24, "⠋ looking for changes")

	format, lint, unit, review := testJob(gauntlet.KindCheck, "format", "."), testJob(gauntlet.KindCheck, "lint", "."),
		testJob(gauntlet.KindCheck, "unit", "src"), testJob(gauntlet.KindReview, "security", ".")
	l.watch(gauntlet.Event{Planned: []*gauntlet.Job{format, lint, unit, review}, Proven: []*gauntlet.Job{format}})
	l.watch(gauntlet.Event{Started: lint})
	l.watch(gauntlet.Event{Printed: lint, Line: "0%\r\x1b[31mone.go\x1b[0m looks\tfine\n"})
	l.watch(gauntlet.Event{Printed: lint, Line: "\n"})
	now = now.Add(1300 * time.Millisecond)
	want(60, 24,
		"= format                  unchanged since it passed",
		"⠸ lint              1.3s  one.go looks fine",
		"· unit in src             waiting",
		"· review security         waiting",
		"1 of 4 done, 1.3s")

	l.watch(gauntlet.Event{Started: unit})
	l.watch(gauntlet.Event{Finished: &gauntlet.GateResult{Job: unit.ID(), Outcome: gauntlet.GateFailed, Message: "Exited with code 1", Duration: 65 * time.Second}})
	l.watch(gauntlet.Event{Finished: &gauntlet.GateResult{Job: review.ID(), Outcome: gauntlet.GateCouldNotRun, Message: "claude: not found"}})
	want(60, 24,
		"= format                  unchanged since it passed",
		"⠸ lint              1.3s  one.go looks fine",
		"✗ unit in src      1m05s  Exited with code 1",
		"! review security   0.0s  could not run: claude: not found",
		"3 of 4 done, 1.3s")
	want(20, 24,
		"= format",
		"⠸ lint         1.3s",
		"✗ unit in s…  1m05s",
		"! review se…   0.0s",
		"3 of 4 done, 1.3s")
	want(60, 4, // what is at work, then what did not pass
		"⠸ lint              1.3s  one.go looks fine",
		"✗ unit in src      1m05s  Exited with code 1",
		"3 of 4 done, 1.3s, 2 not shown")
	l.ending = true
	want(80, 4,
		"⠸ lint              1.3s  one.go looks fine",
		"✗ unit in src      1m05s  Exited with code 1",
		"3 of 4 done, 1.3s, 2 not shown, interrupted: stopping what still runs")
}

// TestFrameFits: a frame never has more lines than the screen, nor longer ones,
// whatever gates are called and print.
func TestFrameFits(t *testing.T) {
	outcomes := []gauntlet.Outcome{gauntlet.GatePassed, gauntlet.GateFailed, gauntlet.GateCouldNotRun, gauntlet.GateNotStarted}
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		l := standing(&now)
		l.paint = term.Paint(rapid.Bool().Draw(t, "colour"))
		var jobs []*gauntlet.Job
		for i := range rapid.IntRange(0, 40).Draw(t, "gates") {
			jobs = append(jobs, testJob(gauntlet.KindCheck, fmt.Sprintf("gate%d", i), rapid.String().Draw(t, "entry")))
		}
		l.watch(gauntlet.Event{Planned: jobs})
		for _, job := range jobs {
			if rapid.Bool().Draw(t, "started") {
				l.watch(gauntlet.Event{Started: job})
				l.watch(gauntlet.Event{Printed: job, Line: rapid.String().Draw(t, "line")})
			}
			if rapid.Bool().Draw(t, "finished") {
				l.watch(gauntlet.Event{Finished: &gauntlet.GateResult{
					Job: job.ID(), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"), Message: rapid.String().Draw(t, "message"),
					Duration: time.Duration(rapid.Int64().Draw(t, "duration")),
				}})
			}
		}
		now = now.Add(time.Duration(rapid.Int64Range(-1e12, 1e15).Draw(t, "later")))
		width, height := rapid.IntRange(1, 120).Draw(t, "width"), rapid.IntRange(1, 50).Draw(t, "height")
		lines := l.frame(width, height)
		if len(lines) > max(1, height-1) {
			t.Errorf("%d lines on a screen of %d", len(lines), height)
		}
		for _, line := range lines {
			if term.Cells(line) > width || strings.Contains(line, "\n") {
				t.Errorf("a line of %d columns on a screen of %d: %q", term.Cells(line), width, line)
			}
		}
	})
}

// recorder keeps what was written and says when it was.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
	came chan struct{}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case r.came <- struct{}{}:
	default:
	}
	return r.text.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func testScreen(out io.Writer) *term.Screen {
	return &term.Screen{Out: out, Size: func() (int, int) { return 80, 24 }}
}

// TestWatchedRestoresTheTerminal: also when the run panics.
func TestWatchedRestoresTheTerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out := &recorder{came: make(chan struct{}, 1)}
	execute := func(_ context.Context, o gauntlet.Options) gauntlet.Result {
		o.Watch(gauntlet.Event{Planned: []*gauntlet.Job{testJob(gauntlet.KindCheck, "lint", ".")}})
		<-out.came // a frame
		panic("broken")
	}
	func() {
		defer func() {
			if recover() != "broken" {
				t.Error("the panic was lost")
			}
		}()
		watched(t.Context(), testScreen(out), false, gauntlet.Options{}, execute)
	}()
	if text := out.String(); !strings.HasSuffix(text, term.ShowCursor) || strings.Count(text, term.HideCursor) != strings.Count(text, term.ShowCursor) {
		t.Errorf("the cursor is not restored: %q", text)
	}
	if !strings.Contains(out.String(), "lint") {
		t.Errorf("nothing was drawn: %q", out)
	}
}

// TestWatchedSaysWhenItIsInterrupted: it may take a while until everything ended.
func TestWatchedSaysWhenItIsInterrupted(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out := &recorder{came: make(chan struct{}, 1)}
	ctx, interrupt := context.WithCancel(t.Context())
	execute := func(ctx context.Context, o gauntlet.Options) gauntlet.Result {
		o.Watch(gauntlet.Event{Planned: []*gauntlet.Job{testJob(gauntlet.KindCheck, "lint", ".")}})
		interrupt()
		for !strings.Contains(out.String(), "interrupted: stopping") {
			<-out.came
		}
		return gauntlet.Result{Interrupted: ctx.Err() != nil}
	}
	if r := watched(ctx, testScreen(out), false, gauntlet.Options{}, execute); !r.Interrupted {
		t.Error("the run was not told")
	}
}

// TestWatchedIsSilentWhenItIsQuick: no flicker where nothing has to run.
func TestWatchedIsSilentWhenItIsQuick(t *testing.T) {
	for after, silent := range map[time.Duration]bool{term.FrameTime / 2: true, term.FrameTime * 2: false} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			watched(t.Context(), testScreen(&out), false, gauntlet.Options{}, func(context.Context, gauntlet.Options) gauntlet.Result {
				time.Sleep(after)
				return gauntlet.Result{}
			})
			if (out.String() == "") != silent {
				t.Errorf("after %v: %q", after, out.String())
			}
		})
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 0: "0.0s", 1234 * time.Millisecond: "1.2s", 9960 * time.Millisecond: "9s", 12 * time.Second: "12s",
		65 * time.Second: "1m05s", 3599 * time.Second: "59m59s", 2 * time.Hour: "2h00m", 1000 * time.Hour: "99h00m",
	} {
		if got := term.Elapsed(d); got != want {
			t.Errorf("elapsed(%v) = %q, not %q", d, got, want)
		}
	}
}
