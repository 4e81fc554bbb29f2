package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/session"
)

// Whatever a command prints, under whatever name it was called, passes the filter.
func TestE19EveryOutputIsFiltered(t *testing.T) {
	stdout, stderr := os.Stdout, os.Stderr
	t.Cleanup(func() { os.Stdout, os.Stderr = stdout, stderr })
	for name, program := range map[string]func() *cobra.Command{
		"stopgate": func() *cobra.Command { return newRoot("stopgate") }, "oj": newOddjobs, "tui-driver": session.NewTUIDriver,
	} {
		path := filepath.Join(t.TempDir(), "out")
		file, err := os.Create(path)
		check(t, err)
		os.Stdout, os.Stderr = file, file
		for _, cmd := range append(program().Commands(), program()) {
			fmt.Fprint(cmd.OutOrStdout(), "a\x1b[2Jb\u202e")
			fmt.Fprint(cmd.ErrOrStderr(), "a\x1b[2Jb\u202e")
			text, err := os.ReadFile(path)
			if err != nil || string(text) != `a\x1b[2Jb\u202ea\x1b[2Jb\u202e` {
				t.Errorf("%s, %s: %q, %v", name, cmd.Name(), text, err)
			}
			check(t, os.Truncate(path, 0))
			if _, err := file.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
		}
		file.Close()
	}
}
