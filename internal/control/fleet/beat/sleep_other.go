//go:build !linux

package beat

import "time"

// sleepMeter knows how long the machine was suspended since the daemon began: the wall clock goes on then, and
// the monotonic clock stands still. A wall clock that is set forward looks the same.
type sleepMeter struct {
	last  time.Time
	total time.Duration
}

func (m *sleepMeter) slept() time.Duration {
	now := time.Now()
	if !m.last.IsZero() {
		m.total += countsAsSleep(now.Round(0).Sub(m.last.Round(0)) - now.Sub(m.last))
	}
	m.last = now
	return m.total
}
