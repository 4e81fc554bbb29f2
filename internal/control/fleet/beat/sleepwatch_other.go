//go:build !linux

package beat

import "context"

// WatchSleep returns at once: this system tells no programs of ours that it is about to sleep.
func WatchSleep(context.Context, func(sleeps bool)) error { return nil }
