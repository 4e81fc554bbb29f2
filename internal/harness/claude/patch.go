package claude

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// Patch is what the command "patch" of the older tool ccc does to Claude Code: Claude Code is renamed,
// and a script in its place calls ccc.
type Patch struct {
	Script  string // in Claude Code's place
	Program string // where Claude Code is now
}

// patchedName is the name that Claude Code gets.
const patchedName = "ccc-claude"

// maxScript is far more than the script has.
const maxScript = 4 << 10

// ErrNotFound says that there is no claude on the PATH.
var ErrNotFound = errors.New("claude is not on the PATH")

// Patched finds the patch of the first claude on the PATH. It is nil where that is Claude Code
// itself.
func Patched(variables []string) (*Patch, error) {
	script, found := environ.LookPath(variables, "claude")
	if !found {
		return nil, ErrNotFound
	}
	text, err := regular.Read(script, maxScript)
	if err != nil || !isPatch(text) {
		return nil, nil // Claude Code is a large file
	}
	program := filepath.Join(filepath.Dir(script), patchedName)
	if !disk.Exists(program) {
		return nil, fmt.Errorf("%s was patched by ccc, but %s is missing", script, program)
	}
	return &Patch{Script: script, Program: program}, nil
}

// isPatch reports whether a file is the script of ccc.
func isPatch(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#!")) && bytes.Contains(text, []byte("CCC_CLAUDE=")) &&
		bytes.Contains(text, []byte(patchedName)) && bytes.Contains(text, []byte("exec "))
}

// Undo gives Claude Code its name back, in one step: there is a claude at every moment.
func (p *Patch) Undo() error { return os.Rename(p.Program, p.Script) }
