package term

import "time"

// frameTime is short enough for a spinner to look alive.
const FrameTime = 100 * time.Millisecond

const TimeColumn = 6 // "59m59s"

// spinner turns once in ten frames.
func Spinner(begun, now time.Time) string {
	turns := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return turns[max(0, int(now.Sub(begun)/FrameTime))%len(turns)]
}
