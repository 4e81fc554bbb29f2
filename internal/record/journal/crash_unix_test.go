//go:build linux || darwin

package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

func init() {
	children["hold"] = childHold
	children["fill"] = childFill
	children["nobody"] = childNobody
}

// Two processes append until they are killed at a random moment. What they said
// was appended must be there, and nothing must be there that they did not write.
func TestKilledWriters(t *testing.T) {
	rounds := 20
	if os.Getenv("STOPGATE_FULL") != "" {
		rounds = 200
	}
	limits := Limits{SegmentSize: 4 << 20}
	j := tempJournal(t, limits)
	var from Position
	records, extra, torn := 0, 0, 0
	random := seedtest.New(t)
	for round := range rounds {
		acknowledged := killedWriters(t, j, round, limits, random)
		for _, e := range readAll(t, j, from) {
			from = e.Position
			if e.Record == nil {
				torn++
				continue
			}
			checkSample(t, e.Record)
			if end, ok := acknowledged[e.Record.ID]; !ok {
				extra++
			} else if end != e.Position.String() {
				t.Fatalf("round %d: record %s ends at %v, Append said %s", round, e.Record.ID, e.Position, end)
			}
			delete(acknowledged, e.Record.ID)
			records++
		}
		if len(acknowledged) > 0 {
			t.Fatalf("round %d: %d acknowledged records are lost: %v", round, len(acknowledged), acknowledged)
		}
	}
	t.Logf("%d rounds: %d records, %d of them not acknowledged, %d torn lines", rounds, records, extra, torn)
}

func killedWriters(t *testing.T, j *Journal, round int, limits Limits, random *rand.Rand) map[string]string {
	t.Helper()
	cmds := make([]*exec.Cmd, 2)
	outs := make([]*processtest.Said, len(cmds))
	for i := range cmds {
		outs[i] = processtest.NewSaid()
		cmds[i] = writer(t, j.dir, fmt.Sprintf("big%dp%d", round, i), 1<<40, limits)
		cmds[i].Stdout = outs[i]
		check(t, cmds[i].Start())
	}
	select {
	case <-outs[0].First: // the other one may be anywhere
	case <-time.After(time.Minute):
		t.Error("no record in a minute")
	}
	time.Sleep(time.Duration(random.Int64N(int64(60 * time.Millisecond))))
	acknowledged := map[string]string{}
	for _, cmd := range cmds {
		cmd.Process.Kill()
	}
	for i, cmd := range cmds {
		cmd.Wait()
		for ack := range strings.Lines(outs[i].String()) {
			var seq int
			var id, end string
			if n, _ := fmt.Sscan(ack, &seq, &id, &end); n == 3 && strings.HasSuffix(ack, "\n") {
				acknowledged[id] = end
			}
		}
	}
	return acknowledged
}

// A writer that was stopped (Ctrl-Z, a debugger) keeps the lock.
func TestStoppedLockHolderDoesNotHangOthers(t *testing.T) {
	j := tempJournal(t, Limits{})
	mustAppend(t, j, event.Record{Call: "before"})
	// An unfinished line, as the holder would have it.
	plant(t, j, 1, append(segmentBytes(t, j, 1), "j1 "...))
	holder := processtest.Child(t, "hold", j.dir)
	ready, err := holder.StdoutPipe()
	check(t, err)
	check(t, holder.Start())
	defer holder.Wait()
	defer holder.Process.Kill()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}

	j.lockWait = 200 * time.Millisecond
	start := time.Now()
	_, err = j.Append(&event.Record{Call: "blocked"})
	if took := time.Since(start); took < j.lockWait || took > time.Minute {
		t.Errorf("Append took %v, the limit is %v", took, j.lockWait)
	}
	if !errors.Is(err, errLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	wantError(t, err, j.path(lockName), "200ms", "fuser")
	// The holder may still finish its line, so it is no damage yet.
	wantCalls(t, readAll(t, j, Position{}), "before")

	holder.Process.Kill()
	holder.Wait()
	wantCalls(t, readAll(t, j, Position{}), "before", "damage")
	mustAppend(t, j, event.Record{Call: "after"})
	wantCalls(t, readAll(t, j, Position{}), "before", "damage", "after")
}

func childHold(args []string) error {
	unlock, err := New(args[0], Limits{}).lock()
	if err != nil {
		return err
	}
	defer unlock() // a file that nothing refers to any more is closed by the garbage collector
	fmt.Print("x")
	return processtest.Stop()
}

// A limit on the size of files fails like a full disk: the part that fits is
// written, the rest is not.
func TestFullDisk(t *testing.T) {
	for _, torn := range []string{"", "j1 0123"} {
		j := tempJournal(t, Limits{})
		plant(t, j, 1, append(line(t, "first"), torn...))
		// Of the large record nothing stays but the newline that ended the torn
		// line: a reader may have seen that.
		grows := "0"
		if torn != "" {
			grows = "1"
		}
		out, err := processtest.Child(t, "fill", j.dir, grows).Output()
		check(t, err)
		wantError(t, errors.New(string(out)), j.dir, "file too large", "free some disk space")

		mustAppend(t, j, event.Record{Call: "other"})
		want := []string{"first", "small", "other"}
		if torn != "" {
			want = []string{"first", "damage", "small", "other"}
		}
		wantCalls(t, readAll(t, j, Position{}), want...)
	}
}

// childFill appends what does not fit, sees how many bytes of it stay, and
// appends what does fit.
func childFill(args []string) error {
	j := New(args[0], Limits{})
	info, err := os.Stat(j.path(segmentName(1)))
	if err != nil {
		return err
	}
	if err := processtest.LimitFiles(uint64(info.Size()) + 1000); err != nil {
		return err
	}
	large := event.Record{Call: "large", Project: strings.Repeat("x", 2000)}
	_, failure := j.Append(&large)
	if failure == nil {
		return errors.New("the large record was appended")
	}
	after, err := os.Stat(j.path(segmentName(1)))
	if err != nil {
		return err
	}
	if got := strconv.FormatInt(after.Size()-info.Size(), 10); got != args[1] {
		return fmt.Errorf("the segment grew by %s bytes, want %s", got, args[1])
	}
	if _, err := j.Append(&event.Record{Call: "small"}); err != nil {
		return err
	}
	fmt.Print(failure)
	return nil
}

// The same on a file system that really is full.
func TestFullFileSystem(t *testing.T) {
	mount := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system: %v %s", err, out)
	}
	defer exec.Command("umount", mount).Run()
	j := New(filepath.Join(mount, "journal"), Limits{})
	var want []string
	var failure error
	for i := 0; failure == nil && i < 100; i++ {
		r := event.Record{Call: fmt.Sprint(i), Project: strings.Repeat("x", 3000)}
		if _, failure = j.Append(&r); failure == nil {
			want = append(want, r.Call)
		}
	}
	wantError(t, failure, j.dir, "no space left", "free some disk space")
	if len(want) < 5 {
		t.Fatalf("only %d records fit", len(want))
	}
	wantCalls(t, readAll(t, j, Position{}), want...)
	if out, err := exec.Command("mount", "-o", "remount,size=128k", mount).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v %s", err, out)
	}
	mustAppend(t, j, event.Record{Call: "room"})
	wantCalls(t, readAll(t, j, Position{}), append(want, "room")...)
}

func TestReadOnlyDirectory(t *testing.T) {
	parent := t.TempDir()
	for _, mode := range []os.FileMode{0o500, 0o700} { // the parent, the journal
		check(t, os.Chmod(parent, mode))
		dir := filepath.Join(parent, "journal")
		if mode == 0o700 {
			check(t, os.Mkdir(dir, 0o500))
		}
		out, err := processtest.Child(t, "nobody", dir).Output()
		check(t, err)
		wantError(t, errors.New(string(out)), dir, "permission denied", "make it writable")
	}
}

// childNobody appends as a user who may write nothing: root may write everywhere.
func childNobody(args []string) error {
	if err := processtest.BecomeNobody(args[0]); err != nil {
		return err
	}
	_, err := New(args[0], Limits{}).Append(&event.Record{})
	fmt.Print(err)
	return nil
}
