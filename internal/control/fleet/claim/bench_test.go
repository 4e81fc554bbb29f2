package claim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
)

// BenchmarkClaim is how long a claim takes: the job and its place under the cap, in one append.
func BenchmarkClaim(b *testing.B) {
	f := linktest.New(b)
	board := open(b, f.Member("a").Log, "a")
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprintf("%016x", i+1)
		b.StopTimer()
		_, err := board.Add(b.Context(), id, job.Spec{Project: "shop", Command: "fix"}, nil)
		check(b, err)
		b.StartTimer()
		_, err = board.Claim(b.Context(), id, nil, 0)
		check(b, err)
		b.StopTimer()
		_, err = board.Change(b.Context(), id, func(j job.Job) (job.Fact, error) { return j.End("a", 1, "done", "", 0, time.Now()) })
		check(b, err)
		b.StartTimer()
	}
}
