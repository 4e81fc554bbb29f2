package guard

import (
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// denial is why a PreToolUse command denies the tool; empty when it does not. It
// may say so as Claude Code's own hooks do: by exit code 2, or by JSON on
// standard output with any exit code.
func denial(r process.Result) string {
	if r.Err != nil || r.Canceled || r.TimedOut {
		return ""
	}
	if said, err := hook.ParseAnswer(r.Stdout); err == nil && said.Blocks { // most print something else
		return orElse(said.Reason, "a hook command of this project denied this tool call")
	}
	if r.Code == 2 {
		return orElse(r.Tail, "a hook command of this project denied this tool call")
	}
	return ""
}

func orElse(text, otherwise string) string {
	if strings.TrimSpace(text) == "" {
		return otherwise
	}
	return text
}
