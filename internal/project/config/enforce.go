package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

const newGlobal = `# stopgate: settings for all your projects.

# Only what you approved (stopgate trust) runs.
trust: enforce

# A command that notifies you; the message is its argument.
# notify:
#   command: notify-send stopgate
`

// EnforceTrust makes the global config say "trust: enforce". A file that says
// something about trust already is left alone: a person decided.
func EnforceTrust(path string) (changed bool, err error) {
	text, err := read(path, path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, atomicfile.Write(path, []byte(newGlobal), 0o600)
	}
	if err != nil {
		return false, err
	}

	// Dotfile managers link to their own copy; the link stays.
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, err
	}
	if _, err := parseGlobal(path, text); err != nil {
		return false, err
	}

	for line := range strings.Lines(string(text)) {
		if key, _, found := strings.Cut(line, ":"); found && strings.Trim(strings.TrimRight(key, " \t"), `"'`) == "trust" {
			return false, nil
		}
	}

	longer := string(text)
	if longer != "" && !strings.HasSuffix(longer, "\n") {
		longer += "\n"
	}
	longer += enforceLine + "\n"
	if global, err := parseGlobal(path, []byte(longer)); err != nil || global.Trust != TrustEnforce {
		return false, fmt.Errorf("cannot change %s; add \"trust: enforce\" to it yourself", path)
	}

	info, err := os.Stat(target)
	if err != nil {
		return false, err
	}
	return true, atomicfile.Write(target, []byte(longer), info.Mode().Perm())
}
