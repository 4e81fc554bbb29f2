package lockfile

import (
	"testing"
	"time"
)

// Who has waited long tries more often than those who came later.
func TestPatienceThatEndsMakesPausesShorter(t *testing.T) {
	pause := 20 * time.Microsecond
	for range 20 {
		pause = next(pause, 30*time.Second)
	}
	if pause != 20*time.Millisecond {
		t.Errorf("the longest pause is %s", pause)
	}
	for _, left := range []time.Duration{10 * time.Second, 5 * time.Second, time.Second} {
		shorter := next(pause, left)
		if shorter >= pause {
			t.Errorf("with %s left the pause is %s, after %s", left, shorter, pause)
		}
		pause = shorter
	}
	if least := next(pause, -time.Second); least <= 0 {
		t.Errorf("no pause at all: %s", least)
	}
}
