//go:build unix

package chaos

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

//go:embed testdata/starts.toml
var startsText string

// Items, and times of a schedule, while the daemon is killed: each item leads to one pipeline for each
// attempt, each time to one, one of the group runs at once, and nothing is lost.
func TestChaosOfStarts(t *testing.T) {
	n, s := sizeOfRun(), seedtest.Seed(t)
	ctx, cancel := context.WithTimeout(t.Context(), n.timeout)
	t.Cleanup(cancel)
	k := newKeeper(newPlace(t, build(t), startsText, strconv.FormatUint(s, 10), n.work), rand.New(rand.NewPCG(s, 4)))
	_, err := k.start()
	check(t, err)
	t.Cleanup(k.end)
	begun := time.Now()
	items := n.kills
	k.write(t, filepath.Join(k.root, "listed.json"), listed(1000, items/2))
	insist(ctx, t, func() error {
		_, err := k.client.SwitchSchedules(ctx, daemonapi.ScheduleSwitch{Project: k.root, On: true})
		return err
	})
	for _, name := range []string{"items", "listed"} {
		insist(ctx, t, func() error {
			_, err := k.client.SwitchWorker(ctx, daemonapi.WorkerSwitch{Project: k.root, Name: name, On: true})
			return err
		})
	}
	killed := make(chan error, 1)
	go func() { killed <- k.killAll(ctx, n.kills) }()
	for i := range items {
		request := daemonapi.AddWork{Project: k.root, Queue: "items", Items: []daemonapi.NewItem{{ID: daemonapi.NewID(), Vars: map[string]string{"n": strconv.Itoa(i)}}}}
		insist(ctx, t, func() error { _, err := k.client.AddWork(ctx, request); return err })
	}
	check(t, <-killed)
	insist(ctx, t, func() error { return over(ctx, k, items+items/2) })
	audited := k.auditStarts(ctx, t, begun, items)
	t.Logf("%d kills, %d items, %s", len(k.kills), items+items/2, audited)
}

// listed is what the source lists.
func listed(from, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"n": %d}`, from+i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// insist does something until it succeeds: daemons come and go.
func insist(ctx context.Context, t *testing.T, do func() error) {
	t.Helper()
	var err error
	for range pause.Doubling(ctx, 10*time.Millisecond, 200*time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// over is nil when all items are done, and nothing runs.
func over(ctx context.Context, k *keeper, items int) error {
	work, err := k.client.Work(ctx, k.root, "")
	if err != nil {
		return err
	}
	if len(work) < items {
		return fmt.Errorf("%d items of %d", len(work), items)
	}
	for _, i := range work {
		if i.State != "done" {
			return fmt.Errorf("item %s is %s: %s", i.Vars["n"], i.State, i.Error)
		}
	}
	owners, err := k.client.Pipelines(ctx, daemonapi.Filter{})
	if err != nil {
		return err
	}
	for _, o := range owners {
		if o.Ended == nil {
			return errors.New(o.ID + " is " + o.Status)
		}
	}
	return nil
}

// auditStarts counts what ran.
func (k *keeper) auditStarts(ctx context.Context, t *testing.T, begun time.Time, items int) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(k.dir, "exceeded")); err == nil {
		t.Error("two of the group ran at once")
	}
	ran := map[string]int{}
	for _, n := range k.lines(t, "items") {
		ran[n]++
	}
	for _, n := range append(numbers(0, items), numbers(1000, items/2)...) {
		want := 1
		if strings.HasSuffix(n, "0") {
			want = 2 // its first attempt fails
		}
		if ran[n] != want {
			t.Errorf("item %s ran %d times, not %d", n, ran[n], want)
		}
	}
	owners, err := k.client.Pipelines(ctx, daemonapi.Filter{})
	check(t, err)
	due := map[string]bool{}
	for at := begun.Truncate(time.Minute); at.Before(time.Now().Add(time.Minute)); at = at.Add(time.Minute) {
		due[intake.OwnerOf(k.root, "chaos.toml pipeline tick", at)] = true
	}
	ticks := 0
	for _, o := range owners {
		if o.Name == "tick" {
			ticks++
			if !due[o.ID] {
				t.Errorf("%s belongs to no time", o.ID)
			}
		}
	}
	if lines := len(k.lines(t, "ticks")); lines != ticks {
		t.Errorf("%d ticks, %d ran", ticks, lines)
	}
	return fmt.Sprintf("%d pipelines, %d by the clock", len(owners), ticks)
}

func numbers(from, n int) (all []string) {
	for i := range n {
		all = append(all, strconv.Itoa(from+i))
	}
	return all
}

// lines are those of a file that steps wrote.
func (p place) lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if !errors.Is(err, os.ErrNotExist) {
		check(t, err)
	}
	return strings.Fields(string(text))
}
