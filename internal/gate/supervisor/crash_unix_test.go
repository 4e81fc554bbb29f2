//go:build unix

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/racetest"
)

func init() {
	children["write"] = childWrite
	children["fill"] = childFill
	children["nobody"] = childNobody
}

// childWrite counts for ever, and says after each that it is written.
func childWrite(args []string) error {
	for {
		_, err := At(args[0]).Update(context.Background(), someSession, time.Now(), func(s *State) error { s.Count++; return nil })
		if err != nil {
			return err
		}
		fmt.Println("written")
	}
}

func TestKilledWritersLoseNothing(t *testing.T) {
	racetest.Skip(t)
	d := newDir(t)
	told := 0
	for round := range 100 {
		told += len(processtest.Kill(t, round, 4*time.Millisecond, "write", d.path))
		s := readState(t, d, someSession)
		// Each killed process may have written one that it could not tell.
		if s.Damaged || s.Count < told || s.Count > told+round+1 {
			t.Fatalf("round %d: %d are written, %d were told, damaged %t", round, s.Count, told, s.Damaged)
		}
	}
	update(t, d, someSession, countOne) // the lock went with its owner
}

// A limit on the size of files fails like a full disk.
func TestFullDiskIsAClearErrorAndChangesNothing(t *testing.T) {
	d := newDir(t)
	update(t, d, someSession, countOne)
	before := stateText(t, d, someSession)
	out, err := processtest.Child(t, "fill", d.path).Output()
	check(t, err)
	if text := string(out); !strings.Contains(text, "write the supervisor's state") || !strings.Contains(text, "file too large") {
		t.Errorf("said %s", text)
	}
	if got := stateText(t, d, someSession); got != before {
		t.Errorf("left %s", got)
	}
	if litter, _ := filepath.Glob(d.join(litterPrefix + "*")); len(litter) > 0 {
		t.Errorf("left behind %q", litter)
	}
}

func childFill(args []string) error {
	if err := processtest.LimitFiles(2000); err != nil {
		return err
	}
	_, err := At(args[0]).Update(context.Background(), someSession, time.Now(), func(s *State) error {
		s.Record(Review{Feedback: strings.Repeat("x", 4000)})
		return nil
	})
	if err == nil {
		return errors.New("it was written")
	}
	fmt.Println(err)
	return nil
}

func TestReadOnlyDirectory(t *testing.T) {
	d := newDir(t)
	update(t, d, someSession, countOne)
	for _, file := range []string{d.StateFile(someSession), d.lockFile(someSession)} {
		check(t, os.Chmod(file, 0o644)) // nobody shall read them
	}
	before := stateText(t, d, someSession)
	check(t, os.Chmod(d.path, 0o555))
	t.Cleanup(func() { check(t, os.Chmod(d.path, 0o700)) })
	out, err := processtest.Child(t, "nobody", d.path).Output()
	check(t, err)
	text := string(out)
	for _, want := range []string{"count 1\n", "write the supervisor's state: ", "lock the supervisor's state: ", "write the supervisor's log: ", "open the file for the review: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Count(text, "permission denied") != 4 || stateText(t, d, someSession) != before {
		t.Errorf("said %s", text)
	}
}

// childNobody tries everything as a user who may write nothing: root may write
// everywhere.
func childNobody(args []string) error {
	if err := processtest.BecomeNobody(args[0]); err != nil {
		return err
	}
	d, nothing := At(args[0]), func(*State) error { return nil }
	s, err := d.Read(someSession)
	if err != nil {
		return err
	}
	fmt.Println("count", s.Count)
	_, known := d.Update(context.Background(), someSession, time.Now(), nothing)
	_, fresh := d.Update(context.Background(), "fresh", time.Now(), nothing)
	_, output := d.OpenOutput(someSession)
	fmt.Println(errors.Join(known, fresh, output, d.Log(time.Now(), "event")))
	d.Prune(time.Now().Add(ancient))
	return nil
}
