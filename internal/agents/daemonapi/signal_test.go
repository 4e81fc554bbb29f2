package daemonapi

import (
	"testing"
	"time"
)

// Ruling 2.5: a stop waits two seconds for the daemon.
func TestSignalWaitsTwoSeconds(t *testing.T) {
	if signalPatience != 2*time.Second {
		t.Errorf("it waits %v", signalPatience)
	}
}
