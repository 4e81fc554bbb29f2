package review

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lookPath finds a program on the PATH of that environment, which need not be our
// own. Like os/exec it does not take one from a relative directory: that would be
// the project's.
func lookPath(program string, environ []string) (path string, ok bool) {
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, true
		}
	}
	return "", false
}

// variable is the last value, which is the one that a child gets.
func variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		key, v, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
