package lifecycle

import (
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// SignalProgram is the absolute path by which agents signal: that of a link named oj to the
// program stopgate, beside it or on the PATH, else of the program itself.
func SignalProgram(stopgate string, env []string) string {
	us, err := os.Stat(stopgate)
	if err != nil {
		return stopgate
	}
	isLink := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(us, info)
	}
	if beside := filepath.Join(filepath.Dir(stopgate), "oj"+extension(stopgate)); isLink(beside) {
		return beside
	}
	if path, found := environ.LookPath(env, "oj"); found && isLink(path) {
		return path
	}
	return stopgate
}

// extension is that of programs, where they have one.
func extension(program string) string {
	if ext := filepath.Ext(program); ext == ".exe" {
		return ext
	}
	return ""
}
