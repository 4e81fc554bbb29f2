package journal

import (
	"context"
	"iter"
	"time"
)

// Follow is Read that goes on: it waits for new records, in new segments too,
// until the context ends, which is no error. It leaves an unfinished last line
// alone until it is ended.
func (j *Journal) Follow(ctx context.Context, from Position) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := scan{journal: j, at: from}
		s.yield = func(e Entry, err error) bool { return ctx.Err() == nil && yield(e, err) }
		tick := time.NewTicker(j.poll)
		defer tick.Stop()
		for {
			if err := s.pass(); err != nil {
				s.fail(err)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
