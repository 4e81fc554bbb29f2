package beat

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepMeter knows how long the machine was suspended since it was booted: one of these clocks goes on then,
// and the other one stands still.
type sleepMeter struct{}

func (sleepMeter) slept() time.Duration {
	var whole, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &whole) != nil {
		return 0
	}
	return countsAsSleep(time.Duration(whole.Nano() - awake.Nano()))
}
