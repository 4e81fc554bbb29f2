package cli

import "time"

// frameTime is short enough for a spinner to look alive.
const frameTime = 100 * time.Millisecond

const timeColumn = 6 // "59m59s"

// spinner turns once in ten frames.
func spinner(begun, now time.Time) string {
	turns := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return turns[max(0, int(now.Sub(begun)/frameTime))%len(turns)]
}
