// Package step tells tests what is done to make a file durable, in the order in which it is
// done: a sync that is left out costs nothing until a machine loses power.
package step

import "sync/atomic"

// Step is one that succeeded.
type Step struct {
	Kind Kind
	Path string
	From string // the name before a rename
}

// Kind is what was done.
type Kind string

// The kinds of steps.
const (
	Synced    Kind = "synced"
	Renamed   Kind = "renamed"
	SyncedDir Kind = "synced the directory"
)

var observer atomic.Pointer[func(Step)]

// Observe has f called after each step, by whichever goroutine takes it; nil ends that.
func Observe(f func(Step)) {
	if f == nil {
		observer.Store(nil)
		return
	}
	observer.Store(&f)
}

// Done tells the observer, if there is one.
func Done(s Step) {
	if f := observer.Load(); f != nil {
		(*f)(s)
	}
}
