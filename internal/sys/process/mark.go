package process

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// markVariable is how the descendants of a command are known. Where a descendant
// runs commands of its own, their marks begin with its mark.
const markVariable = "STOPGATE_COMMAND="

var marks atomic.Int64

// newMark is an environment entry that no other command has.
func newMark(env []string) string {
	outer := markVariable
	for _, entry := range env {
		if strings.HasPrefix(entry, markVariable) {
			outer = entry + "/"
		}
	}
	return outer + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.FormatInt(marks.Add(1), 36)
}
