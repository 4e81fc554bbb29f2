package claim_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/claim/claimtest"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// quiet is a log that is not read.
var quiet = slog.New(slog.DiscardHandler)

// open is a member's board as the fleet has it now.
func open(t testing.TB, log board.Log, name string) *board.Board {
	t.Helper()
	b, err := board.Open(t.Context(), log, name, time.Now, quiet)
	check(t, err)
	return b
}

// member is a member with a board that is current when it begins, and does not follow.
func member(t testing.TB, log board.Log, name string, y *claimtest.Yard) *claim.Member {
	t.Helper()
	return &claim.Member{Name: name, Board: open(t, log, name), Machine: y, Log: quiet, Now: time.Now}
}

// add adds jobs of one kind.
func add(t testing.TB, f *linktest.Fleet, spec job.Spec, ids ...string) {
	t.Helper()
	b := open(t, f.Member("adder").Log, "adder")
	if spec.Project == "" {
		spec.Project, spec.Command = "shop", "fix"
	}
	for _, id := range ids {
		_, err := b.Add(t.Context(), id, spec, nil)
		check(t, err)
	}
}

// numbered are ids.
func numbered(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%016x", i+1))
	}
	return ids
}

// jobOf is a job as the fleet has it now.
func jobOf(t testing.TB, f *linktest.Fleet, id string) job.Job {
	t.Helper()
	j, known := open(t, f.Member("reader").Log, "reader").Job(id)
	if !known {
		t.Fatalf("there is no job %s", id)
	}
	return j
}

var errNot = errors.New("there is no command fix")
