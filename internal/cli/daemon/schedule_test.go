package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// How long it is until the next time is true, however long that is.
func TestNextTimeFarAway(t *testing.T) {
	now := time.Date(2026, 11, 17, 9, 44, 11, 0, time.UTC)
	for away, want := range map[time.Duration]string{
		49 * time.Second:     ", in 49s",
		26 * time.Hour:       ", in 26h00m",
		113 * time.Hour:      ", in 4d",
		469 * 24 * time.Hour: ", in 469d",
	} {
		next := now.Add(away)
		if got := nextTime(&daemonapi.Schedule{Timezone: "UTC", Next: &next}, now); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", away, got)
		}
	}
}
