package web

import (
	"context"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// changeWork makes an action on an item of a queue.
func changeWork(change func(p Plane, ctx context.Context, id string) (daemonapi.WorkItem, error)) func(r *Request) (next string, err error) {
	return func(r *Request) (next string, err error) {
		id, err := r.ID()
		if err != nil {
			return "", err
		}
		_, err = change(r.Plane, r.Context(), id)
		return "/", err
	}
}
