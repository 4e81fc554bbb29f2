package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
	"github.com/stopgate/stopgate/internal/sys/process/processtest"
)

func TestMain(m *testing.M) {
	processtest.Main(m, map[string]func([]string) error{"make and remove": makeAndRemove})
}

// makeAndRemove is a daemon that says what it does before and after.
func makeAndRemove(args []string) error {
	w := New(filepath.Dir(args[0]), os.Environ())
	task := engine.WorkspaceTask{Dir: args[1], Kind: runbook.WorkspaceKind(args[2]), Project: args[3], Branch: "fix/17", Base: "main"}
	for {
		fmt.Println("making")
		if _, err := w.Make(context.Background(), "1", task); err != nil {
			return err
		}
		fmt.Println("made")
		if _, err := w.Remove(context.Background(), task); err != nil {
			return err
		}
	}
}
