package config

import (
	"testing"
	"time"
)

func TestShortDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"20m": 20 * time.Minute, "10s": 10 * time.Second, "1h": time.Hour, "1h0m5s": time.Hour + 5*time.Second,
		"1.5s": 1500 * time.Millisecond, "1m30s": 90 * time.Second, "0s": 0,
	} {
		if got := ShortDuration(d); got != want {
			t.Errorf("ShortDuration(%v) = %q, not %q", d, got, want)
		}
	}
}
