package processtest

import (
	"bufio"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Kill kills a child after it has said a few lines, up to four, and gives all that it said. When it
// dies is another moment in each round, somewhere within what follows the last of them.
func Kill(t *testing.T, round int, within time.Duration, name string, args ...string) (said []string) {
	t.Helper()
	cmd := Child(t, name, args...)
	out, err := cmd.StdoutPipe()
	checktest.OK(t, err)
	checktest.OK(t, cmd.Start())

	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said = append(said, lines.Text()); len(said) == 1+round%4 {
			time.Sleep(time.Duration(round) * 1373 * time.Microsecond % within)
			checktest.OK(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	if len(said) == 0 {
		t.Fatalf("%s said nothing", name)
	}
	return said
}
