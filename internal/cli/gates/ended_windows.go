package gates

import "os"

// readersStay has no way to look.
func readersStay(over <-chan struct{}, _ ...*os.File) bool {
	<-over
	return true
}
