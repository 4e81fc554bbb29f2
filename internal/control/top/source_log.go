package top

import (
	"context"
	"time"
)

// Follow tells the end of a log and what is added to it, until the context ends.
func (s *Source) Follow(ctx context.Context, owner string, tell func(any)) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		defer caught(failed)
		for text, err := range s.client.Tail(ctx, owner, tailLines, true) {
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
