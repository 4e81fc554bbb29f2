package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// slashMark is how we know the files again that we wrote.
const slashMark = "# written by stopgate hooks install --slash-commands"

// slashCommand is a command that a person types into Claude Code.
type slashCommand struct{ name, description, does string }

var slashCommands = [...]slashCommand{
	{"supervisor", "Have a second Claude review this session's work before it stops", "on"},
	{"supervisoroff", "Let this session stop without a review", "off"},
}

// text is Claude Code's file for the command: what the person adds to it goes to the
// agent, and the line at the end runs before the agent sees anything.
func (c slashCommand) text(program string) []byte {
	line := settings.ShellCommand(program, "supervisor", c.does)
	return []byte(strings.Join([]string{
		"---", slashMark,
		"description: " + c.description,
		"argument-hint: \"[what to do next]\"",
		"allowed-tools: Bash(" + line + ")",
		"---", "$ARGUMENTS", "", "!`" + line + "`", "",
	}, "\n"))
}

// slashDir is where Claude Code looks for the commands of the scope.
func slashDir(scope settings.Scope, root string) (string, error) {
	file, err := settings.Path(scope, root)
	return filepath.Join(filepath.Dir(file), "commands"), err
}

// InstallSlashCommands writes the commands. A file of that name that is not ours is
// refused before anything is written.
func InstallSlashCommands(out io.Writer, scope settings.Scope, root, program string) error {
	if scope == settings.Local {
		scope = settings.User // a project has no place for commands that are one's own
	}
	dir, err := slashDir(scope, root)
	if err != nil {
		return err
	}

	for _, c := range slashCommands {
		if text, err := os.ReadFile(c.path(dir)); err == nil && !isOurSlashCommand(text) {
			return term.WithHint(fmt.Errorf("%s exists and was not written by stopgate", c.path(dir)), "move it, then run this again")
		}
	}

	for _, c := range slashCommands {
		path, text := c.path(dir), c.text(program)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			fmt.Fprintf(out, "/%s is in %s already\n", c.name, path)
			continue
		}

		err := jsonfile.WithLock(path, func(f *jsonfile.File) error {
			if f.Exists {
				return f.Write(text)
			}
			if scope == settings.Project {
				f.Mode = 0o644 // the project's files are shared
			}
			return f.Make(text)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "wrote /%s to %s\n", c.name, path)
	}
	return nil
}

// UninstallSlashCommands removes what we wrote.
func UninstallSlashCommands(out io.Writer, scope settings.Scope, root string) (found bool, failed error) {
	if scope == settings.Local {
		return false, nil
	}
	dir, err := slashDir(scope, root)
	if err != nil {
		return false, err
	}
	for _, c := range slices.Backward(slashCommands[:]) { // the first one was made with its directory
		text, err := os.ReadFile(c.path(dir))
		if err != nil || !isOurSlashCommand(text) {
			continue
		}
		if err := jsonfile.WithLock(c.path(dir), removeSlashCommand); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		found = true
		fmt.Fprintf(out, "removed %s\n", c.path(dir))
	}
	return found, failed
}

// HasSlashCommands reports whether there is something to uninstall.
func HasSlashCommands(scope settings.Scope, root string) bool {
	dir, err := slashDir(scope, root)
	if err != nil || scope == settings.Local {
		return false
	}
	return slices.ContainsFunc(slashCommands[:], func(c slashCommand) bool {
		text, err := os.ReadFile(c.path(dir))
		return err == nil && isOurSlashCommand(text)
	})
}

// removeSlashCommand removes a file that has our mark, and its directories only if we made them.
func removeSlashCommand(f *jsonfile.File) error {
	if !f.Made() {
		return os.Remove(f.Path)
	}
	if err := f.Remove(); err != nil {
		return err
	}
	return f.Forget()
}

func (c slashCommand) path(dir string) string { return filepath.Join(dir, c.name+".md") }

func isOurSlashCommand(text []byte) bool { return bytes.Contains(text, []byte("\n"+slashMark+"\n")) }
