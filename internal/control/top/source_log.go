package top

import (
	"context"
	"time"
)

// Follow tells the end of a log and what is added to it, until the context ends. Of a log on another machine it
// tells the end only.
func (s *Source) Follow(ctx context.Context, f Follow, tell func(any)) {
	owner := f.Owner
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		defer caught(failed)
		for text, err := range s.client.Tail(ctx, owner, tailLines, !f.Afar) {
			if err != nil {
				failed <- err
				return
			}
			select {
			case lines <- text:
			case <-ctx.Done():
				return
			}
		}
	}()

	var got []string
	var flush <-chan time.Time
	for {
		select {
		case text, more := <-lines:
			if !more {
				last := Logged{Owner: owner, Lines: got, Ended: true}
				select {
				case last.Err = <-failed:
				default:
				}
				if ctx.Err() == nil {
					tell(last)
				}
				return
			}
			if got = append(got, text); len(got) > maxLog {
				got = got[len(got)-maxLog:]
			}
			if flush == nil {
				flush = time.After(coalesce / 2)
			}
		case <-flush:
			flush = nil
			tell(Logged{Owner: owner, Lines: got})
			got = nil
		}
	}
}
