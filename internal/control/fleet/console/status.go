package console

import "context"

func newStatus(c *command) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error { return nil }
}

func newDoctor(c *command) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error { return nil }
}
