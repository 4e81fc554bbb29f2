package logdir

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

func TestDebugLog(t *testing.T) {
	d := tempDir(t)
	log := d.DebugLog(1 << 20)
	log.Printf(noon, "no directory yet")
	if disk.Exists(d.Path()) {
		t.Error("the debug log made the directory")
	}
	check(t, d.make())
	DebugLog{}.Printf(noon, "disabled")
	log.Printf(noon, "RUN_START mode=%s", "full")
	log.Printf(noon, "a\nb")
	want := "[2026-03-04T12:00:00.000Z] RUN_START mode=full\n[2026-03-04T12:00:00.000Z] a\\nb\n"
	if got := read(t, d.file(".debug.log")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDebugLogRotatesOnce(t *testing.T) {
	d := tempDir(t)
	check(t, d.make())
	log := d.DebugLog(100)
	for i := range 9 {
		log.Printf(noon, "%02d%s", i, strings.Repeat("x", 20)) // 50 bytes
	}
	for name, want := range map[string][]string{".debug.log": {"08"}, ".debug.log.1": {"06", "07"}} {
		text := read(t, d.file(name))
		if strings.Count(text, "\n") != len(want) {
			t.Errorf("%s holds %s", name, text)
		}
		for _, line := range want {
			if !strings.Contains(text, " "+line) {
				t.Errorf("%s lacks %s", name, line)
			}
		}
	}
}

// What is set aside is always a full log, never the one that was just begun.
func TestDebugLogOfManyRuns(t *testing.T) {
	d := tempDir(t)
	check(t, d.make())
	const size = 4000
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 100 {
				d.DebugLog(size).Printf(noon, "%d.%d%s", i, j, strings.Repeat("x", 50))
				if info, err := os.Stat(d.file(".debug.log.1")); err == nil && info.Size() < size {
					t.Errorf("a log of %d bytes was set aside", info.Size())
				}
			}
		})
	}
	group.Wait()
	line := regexp.MustCompile(`^\[2026-03-04T12:00:00\.000Z\] \d\.\d+x{50}$`)
	for _, name := range []string{".debug.log", ".debug.log.1"} {
		for text := range strings.Lines(read(t, d.file(name))) {
			if !line.MatchString(strings.TrimSuffix(text, "\n")) {
				t.Errorf("torn line %q", text)
			}
		}
	}
}

func ExampleDebugLog() {
	dir, err := os.MkdirTemp("", "logs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	At(dir).DebugLog(10<<20).Printf(noon, "STOP_HOOK decision=%s", "allow")
	text, _ := os.ReadFile(At(dir).file(".debug.log"))
	fmt.Print(string(text))
	// Output: [2026-03-04T12:00:00.000Z] STOP_HOOK decision=allow
}
