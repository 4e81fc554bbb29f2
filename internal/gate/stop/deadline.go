package stop

import (
	"strconv"
	"time"
)

// margin is what a hook leaves of Claude Code's timeout. Claude Code takes a hook
// that it had to end for one that allowed, even if a block was printed already,
// so we answer before.
const margin = 15 * time.Second

// Budget is the time for all keepers of a call whose hook was installed with
// the timeout. Short timeouts leave half.
func Budget(timeout time.Duration) time.Duration {
	return max(timeout-margin, timeout/2)
}

// grace is how long a keeper may take to come back when that time is over: killing a
// process group takes milliseconds, but the machine may be busy. The rest is for the answer.
func grace(timeout time.Duration) time.Duration { return (timeout - Budget(timeout)) / 2 }

// blockCap is how many blocks in a row Claude Code honours. It counts anew when
// the agent calls a tool; we do not see that and count them all. 0 is no limit.
func (s *Service) blockCap() int {
	const standard = 8
	n, err := strconv.Atoi(s.getenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"))
	if err != nil {
		return standard
	}
	return max(n, 0)
}
