package workload

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// Run performs operations of all parts, and reports each that was acknowledged. First come as many
// for each part as rounds says, one at a time and in an order by chance, so that no sync of another
// part hides one that is missing. Then as many come again, those of all parts at once.
func Run(parts []Part, seed uint64, rounds int, report func(Ack) error) error {
	done := make([]int, len(parts))
	do := func(i int) error {
		n := done[i] + 1
		if err := parts[i].Do(n); err != nil {
			return fmt.Errorf("operation %d of %s: %w", n, parts[i].Name(), err)
		}
		done[i] = n
		return report(Ack{parts[i].Name(), n})
	}

	random := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		for _, i := range random.Perm(len(parts)) {
			if err := do(i); err != nil {
				return err
			}
		}
	}

	var group sync.WaitGroup
	failures := make(chan error, len(parts))
	for i := range parts {
		group.Go(func() {
			for range rounds {
				if err := do(i); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures // nil where there is none
}
