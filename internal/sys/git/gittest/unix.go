//go:build unix

package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

// Wrap puts a script in front of git, on the PATH of the environment that it
// returns. In the script "$GIT" is the real one.
func Wrap(t testing.TB, environ []string, script string) []string {
	t.Helper()
	real, err := exec.LookPath("git")
	checktest.OK(t, err)
	dir := Dir(t)
	environtest.Program(t, filepath.Join(dir, "git"), "#!/bin/sh\nGIT='"+real+"'\n"+script+"\n")
	return append(environ[:len(environ):len(environ)], "PATH="+dir+":"+os.Getenv("PATH"))
}

// Counted counts how often git is called in the environment that it returns. Each
// call is one line, the name of the command.
func Counted(t testing.TB, environ []string) (counted []string, calls func() []string) {
	t.Helper()
	log := filepath.Join(Dir(t), "calls")
	counted = Wrap(t, environ, `
for word; do
	case $word in rev-parse|ls-files|status|diff-*|rev-list|merge-base|symbolic-ref|config) break;; esac
done
echo "$word" >>'`+log+`'
exec "$GIT" "$@"`)
	return counted, func() []string {
		text, err := os.ReadFile(log)
		if os.IsNotExist(err) {
			return nil
		}
		checktest.OK(t, err)
		_ = os.Remove(log)
		return strings.Fields(string(text))
	}
}
