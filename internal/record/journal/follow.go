package journal

import (
	"context"
	"iter"

	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Follow is Read that goes on: it waits for new records, in new segments too,
// until the context ends, which is no error. It leaves an unfinished last line
// alone until it is ended.
func (j *Journal) Follow(ctx context.Context, from Position) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := scan{journal: j, at: from}
		s.yield = func(e Entry, err error) bool { return ctx.Err() == nil && yield(e, err) }
		for range pause.Every(ctx, j.poll) {
			if err := s.pass(); err != nil {
				s.fail(err)
				return
			}
		}
	}
}
