package processtest

import (
	"bufio"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Kill kills a child somewhere after it has said a few lines, up to four and at another place in
// each round, and gives all that it said.
func Kill(t *testing.T, round int, name string, args ...string) (said []string) {
	t.Helper()
	cmd := Child(t, name, args...)
	out, err := cmd.StdoutPipe()
	checktest.OK(t, err)
	checktest.OK(t, cmd.Start())

	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said = append(said, lines.Text()); len(said) == 1+round%4 {
			time.Sleep(time.Duration(round*137%4000) * time.Microsecond) // anywhere in what follows
			checktest.OK(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait() // it was killed
	return said
}
