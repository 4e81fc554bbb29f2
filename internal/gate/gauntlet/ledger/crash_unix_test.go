//go:build linux || darwin

package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() {
	children["write"] = childWrite
	children["fill"] = childFill
}

// childWrite counts failing runs for ever, and says after each that it is
// written.
func childWrite(args []string) error {
	l := &Ledger{dir: args[0]}
	for {
		err := l.Update(context.Background(), func(s *State) error {
			run := partial("A", gate(lint, Failed))
			run.MaxRetries = 1 << 30
			s.Record(run)
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println("written")
	}
}

func TestKilledWritersLoseNothing(t *testing.T) {
	l := newLedger(t)
	told := 0
	for round := range 15 {
		told += len(processtest.Kill(t, round, 4*time.Millisecond, "write", l.dir))
		s := readState(t, l)
		// Each killed process may have written one that it could not tell.
		if got := s.Series.Failures; s.Damaged || got < told || got > told+round+1 {
			t.Fatalf("round %d: %d are written, %d were told, damaged %t", round, got, told, s.Damaged)
		}
	}
	update(t, l, fail(test)) // the lock went with its owner
}

// A limit on the size of files fails like a full disk.
func TestFullDiskIsAClearErrorAndChangesNothing(t *testing.T) {
	l := newLedger(t)
	update(t, l, fail(lint))
	out, err := processtest.Child(t, "fill", l.dir).Output()
	check(t, err)
	if text := string(out); !strings.Contains(text, "write the ledger") || !strings.Contains(text, "file too large") {
		t.Errorf("said %s", text)
	}
	if s := readState(t, l); s.Damaged || len(s.Open) != 1 || s.Open[0].Message != "m" {
		t.Errorf("left %+v", s)
	}
	if litter, _ := filepath.Glob(filepath.Join(l.dir, ".stopgate-*")); len(litter) > 0 {
		t.Errorf("left behind %q", litter)
	}
}

func childFill(args []string) error {
	if err := processtest.LimitFiles(2000); err != nil {
		return err
	}
	err := (&Ledger{dir: args[0]}).Update(context.Background(), func(s *State) error {
		s.Open[0].Message = strings.Repeat("x", 4000)
		return nil
	})
	if err == nil {
		return errors.New("it was written")
	}
	fmt.Println(err)
	return nil
}

func TestAPipeInPlaceOfTheLedgerDoesNotHang(t *testing.T) {
	l := newLedger(t)
	check(t, os.MkdirAll(l.dir, 0o700))
	check(t, syscall.Mkfifo(l.path(), 0o600))
	if _, err := l.Read(); err == nil {
		t.Error("want an error")
	}
}
