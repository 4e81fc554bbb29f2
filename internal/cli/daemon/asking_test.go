package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A person is told that an answer takes its time; a pipe is not, and what is answered soon needs no word.
func TestAPersonIsToldThatAnAnswerTakesTime(t *testing.T) {
	for name, test := range map[string]struct {
		isScreen bool
		takes    time.Duration
		want     string
	}{
		"long":         {true, time.Minute, "waiting for an answer …\n"},
		"soon":         {true, 2 * time.Second, ""},
		"not a screen": {false, time.Minute, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			stop := (&Daemon{errOut: &out}).comfort(test.isScreen)
			time.Sleep(test.takes)
			stop()
			time.Sleep(time.Minute)
			synctest.Wait()
			if out.String() != test.want {
				t.Errorf("%s: %q", name, out.String())
			}
		})
	}
}
