// Package environ reads environments that need not be our own: those of the hook
// call, in the form of os.Environ.
package environ

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Lookup finds a variable. Of several entries the last counts, as for a child.
func Lookup(environ []string, name string) (value string, found bool) {
	for _, entry := range environ {
		key, text, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			value, found = text, true
		}
	}
	return value, found
}

// Get is a variable's value; empty where it is not set.
func Get(environ []string, name string) string {
	value, _ := Lookup(environ, name)
	return value
}

// Without is an environment less the unwanted variables.
func Without(environ []string, unwanted func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return unwanted(name)
	})
}

// LookPath finds a program on the environment's PATH. Like os/exec it does not
// take one from a relative directory: that would be the project's.
func LookPath(environ []string, program string) (path string, found bool) {
	for _, dir := range filepath.SplitList(Get(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, true
		}
	}
	return "", false
}
