package daemonapi

import "fmt"

// ours is asked first: there is no daemon here.
func ours(string) error { return fmt.Errorf("%w: it needs Unix", ErrNotRunning) }
