package errand

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func init() { children["runs them all"] = runAll }

// runAll is the stand-in runner of all errands in a directory, until its input ends.
func runAll(args []string) error {
	dirs, err := os.ReadDir(args[0])
	if err != nil {
		return err
	}
	self, err := json.Marshal(process.Self())
	if err != nil {
		return err
	}
	var locks []*os.File
	for _, dir := range dirs {
		d := directory(filepath.Join(args[0], dir.Name()))
		lock, err := d.take()
		if err == nil {
			err = os.WriteFile(d.path("begun"), self, 0o600)
		}
		if err != nil {
			return err
		}
		locks = append(locks, lock)
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(locks)
	return err
}

// threads are those of this process.
func threads(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	check(t, err)
	_, rest, _ := strings.Cut(string(text), "\nThreads:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	check(t, err)
	return n
}

// Waiting for a command takes no thread, however many run.
func TestThreadsOfThousandsThatWait(t *testing.T) {
	const errands = 3000
	parent := t.TempDir()
	for n := range errands {
		check(t, os.Mkdir(filepath.Join(parent, strconv.Itoa(n)), 0o700))
	}
	holder := processtest.Child(t, "runs them all", parent)
	stdin, err := holder.StdinPipe()
	check(t, err)
	stdout, err := holder.StdoutPipe()
	check(t, err)
	check(t, holder.Start())
	if word, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || word != "held\n" {
		t.Fatal(word, err)
	}
	before := threads(t)

	var all, begun sync.WaitGroup
	ended := make(chan error, errands)
	begun.Add(errands)
	for n := range errands {
		all.Go(func() {
			begun.Done()
			r, err := Wait(t.Context(), filepath.Join(parent, strconv.Itoa(n)))
			if err == nil && !r.Lost {
				err = fmt.Errorf("errand %d: %+v", n, r)
			}
			ended <- err
		})
	}
	begun.Wait()
	awaitPidfds(t, errands)
	if len(ended) > 0 {
		t.Fatal("one does not wait: ", <-ended)
	}
	during := threads(t)
	t.Logf("%d threads before, %d with %d that wait", before, during, errands)
	if during > before+64 { // some look at their directories just now
		t.Errorf("%d threads before, %d with %d that wait", before, during, errands)
	}

	check(t, stdin.Close())
	check(t, holder.Wait())
	all.Wait()
	for range errands {
		check(t, <-ended)
	}
}

// awaitPidfds waits until this process waits for so many others.
func awaitPidfds(t *testing.T, most int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		fds, err := os.ReadDir("/proc/self/fd")
		check(t, err)
		if len(fds) >= most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, waited for %d", len(fds), most)
		}
	}
}
