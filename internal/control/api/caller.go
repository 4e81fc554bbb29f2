package api

import "context"

// Caller is who asks from another machine of the fleet. The zero Caller is a person on this machine.
type Caller struct{ User, Host string }

// String is who that is, in words.
func (c Caller) String() string {
	if c == (Caller{}) {
		return "the user"
	}
	return c.User + " on " + c.Host
}

type callerKey struct{}

// WithCaller is a context of a request by someone on another machine.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is who asks.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller) // the zero one where it is none
	return c
}
