package beat

import "time"

// aNap is what two clocks may differ by without a sleep: they are not read at once, and wall clocks are set.
const aNap = 10 * time.Second

func countsAsSleep(d time.Duration) time.Duration {
	if d < aNap {
		return 0
	}
	return d
}
