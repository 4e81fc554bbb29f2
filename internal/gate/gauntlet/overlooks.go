package gauntlet

import (
	"strings"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// hookManager matches calls of programs that check what a commit would have: files that git tracks, or staged ones.
var hookManager = lazyregexp.New(`(^|[\s;&|(/])((pre[-_]commit|prek|lefthook)\s+run|lint-staged)($|[\s;&|)])`)

// overlooksNew reports whether a check looks only at what git's index has, where the files that an agent makes are not yet. An
// index of its own, or a list of files, may have them.
func overlooksNew(command string) bool {
	return hookManager.Get().MatchString(command) && !strings.Contains(command, "GIT_INDEX_FILE") && !strings.Contains(command, "--file")
}
