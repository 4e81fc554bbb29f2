package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// asks waits for the decision of a pipeline.
func (s *stage) asks(ctx context.Context, id string) (daemonapi.Decision, error) {
	o, err := s.until(ctx, id, func(o daemonapi.Owner) bool { return o.Decision != nil || o.Ended != nil })
	if err != nil {
		return daemonapi.Decision{}, err
	}
	if o.Decision == nil {
		return daemonapi.Decision{}, fmt.Errorf("pipeline %s did not ask: %s %s", id, o.Status, o.Error)
	}
	return *o.Decision, nil
}

// until waits until a pipeline is as wanted.
func (s *stage) until(ctx context.Context, id string, wanted func(daemonapi.Owner) bool) (daemonapi.Owner, error) {
	return await(ctx, func() (daemonapi.Owner, error) { return s.daemon().Owner(ctx, id) }, wanted)
}

// worked waits until no item of the queue is left to do.
func (s *stage) worked(ctx context.Context) error {
	_, err := await(ctx, func() ([]daemonapi.WorkItem, error) { return s.daemon().Work(ctx, s.project, "") }, func(items []daemonapi.WorkItem) bool {
		for _, item := range items {
			if item.State != "done" && item.State != "dead" {
				return false
			}
		}
		return true
	})
	return err
}

// await looks again and again, until what is seen is as wanted.
func await[T any](ctx context.Context, look func() (T, error), wanted func(T) bool) (T, error) {
	for range pause.Every(ctx, 100*time.Millisecond) {
		if now, err := look(); err != nil || wanted(now) {
			return now, err
		}
	}
	var none T
	return none, ctx.Err()
}
