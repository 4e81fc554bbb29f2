//go:build unix

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The runner is the first process in an agent's terminal. It keeps what it finds when it
// begins, and is the stand-in for the program after that.
func TestTheConfigIsThereBeforeTheClient(t *testing.T) {
	s := newScene(t)
	found, program := filepath.Join(t.TempDir(), "found"), filepath.Join(t.TempDir(), "stopgate")
	check(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\n[ -e '%s' ] || cat '%s' >'%[1]s' 2>&1\nexec '%[3]s' \"$@\"\n",
		found, s.own().Path("config.json"), s.Errands.Program), 0o755))
	s.Errands.Program = program
	s.start(s.agent("hello"))
	text, err := os.ReadFile(found)
	check(t, err)
	if string(text) != `{"on_stop":"idle"}` {
		t.Errorf("found %q", text)
	}
	s.awaits("stop\n")
}
