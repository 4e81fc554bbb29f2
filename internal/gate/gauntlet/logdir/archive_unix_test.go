//go:build unix

package logdir

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process/processtest"
	"github.com/stopgate/stopgate/internal/sys/seedtest"
)

func init() {
	children["clean"] = func(args []string) error {
		fmt.Println("starts")
		_, err := At(args[0]).Clean()
		return err
	}
}

// A process is killed somewhere in a move of many files. Nothing of the newest
// two generations may be lost, whatever the moment.
func TestKilledCleanLosesNothing(t *testing.T) {
	const files = 150
	d, random := tempDir(t), seedtest.New(t)
	within := 0
	for round := range 10 {
		for i := range files {
			write(t, d.file(fmt.Sprintf("check_%03d.1.log", i)), fmt.Sprint(round))
		}
		cmd := processtest.Child(t, "clean", d.Path())
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Millisecond)))) // anywhere within the move
		cmd.Process.Kill()
		cmd.Wait()

		kept := map[string]int{}
		for _, text := range tree(t, d) {
			kept[text]++
		}
		if d.holds(nextName) || d.holds(readyName) {
			within++
		}
		for _, generation := range []int{round, round - 1} {
			if generation >= 0 && kept[fmt.Sprint(generation)] != files {
				t.Fatalf("round %d: %d files of generation %d are left", round, kept[fmt.Sprint(generation)], generation)
			}
		}
		clean(t, d)
		for path, text := range tree(t, d) {
			if text == fmt.Sprint(round) && strings.Count(path, "/") != 1 {
				t.Fatalf("round %d: %s", round, path)
			}
		}
	}
	t.Logf("%d were killed within the move", within)
}
