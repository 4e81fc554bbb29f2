package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/gates"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// ignoreList is the .gitignore of a project, which the team shares. The logs belong there: every
// clone has some. Their directory has a .gitignore of its own, but formatters and linters, prettier
// for one, read only that of the root.
type ignoreList string

func ignoreListOf(root string) ignoreList { return ignoreList(filepath.Join(root, ".gitignore")) }

// logsLine is the line that init adds.
const logsLine = gates.DefaultLogDir + "/"

// lacksLogs reports whether init is to add the line: in a repository, and once.
func (l ignoreList) lacksLogs() bool {
	if _, found := paths.GitRoot(filepath.Dir(string(l))); !found {
		return false
	}
	text, err := l.read()
	return err == nil && !hasLogs(text)
}

// hasLogsLine reports whether the line is there in the form that init writes.
func (l ignoreList) hasLogsLine() bool {
	text, err := l.read()
	return err == nil && slices.Contains(strings.Split(text, "\n"), logsLine)
}

// read is the text of the list, which need not be there.
func (l ignoreList) read() (string, error) {
	const most = 1 << 20
	text, err := regular.Read(string(l), most)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

func hasLogs(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.Trim(strings.TrimSpace(line), "/") == gates.DefaultLogDir
	})
}

// addLogs adds the line. A list that cannot be written is told, and nothing else fails: git ignores
// the logs without it.
func (l ignoreList) addLogs(out io.Writer) {
	if !l.lacksLogs() {
		return
	}
	if err := l.append(); err != nil {
		fmt.Fprintf(out, "note: cannot add %s to %s: %v\n", logsLine, l, err)
		return
	}
	fmt.Fprintf(out, "added %s to %s\n", logsLine, l)
}

func (l ignoreList) append() error {
	text, err := l.read()
	if err != nil {
		return err
	}
	line := logsLine + "\n"
	if text != "" && !strings.HasSuffix(text, "\n") {
		line = "\n" + line
	}

	file, err := os.OpenFile(string(l), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}
