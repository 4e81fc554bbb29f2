//go:build unix

package launch

import (
	"fmt"
	"syscall"
)

// Exec becomes Claude Code: same process, same terminal, same exit code. It returns
// only when that fails.
func (p *Plan) Exec() (code int, err error) {
	err = syscall.Exec(p.Path, p.Args, p.Env)
	return 0, StartError{error: fmt.Errorf("start %s: %w", p.Path, err)}
}
