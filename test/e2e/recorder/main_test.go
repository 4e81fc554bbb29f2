package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

func TestPayloadsSavedAtOnceGetNumbersWithoutGaps(t *testing.T) {
	dir := t.TempDir()
	const hooks = 20
	var running sync.WaitGroup
	for i := range hooks {
		running.Go(func() {
			if err := save(dir, strings.NewReader(fmt.Sprint("payload ", i))); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	seen := map[string]bool{}
	for n := 1; n <= hooks; n++ {
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%06d.json", n)))
		if err != nil {
			t.Fatal(err)
		}
		seen[string(raw)] = true
	}
	if len(seen) != hooks {
		t.Errorf("%d payloads kept, want %d", len(seen), hooks)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "writing-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestADirectoryThatIsGoneIsAnError(t *testing.T) {
	if save(filepath.Join(t.TempDir(), "gone"), strings.NewReader("x")) == nil {
		t.Error("no error")
	}
}
