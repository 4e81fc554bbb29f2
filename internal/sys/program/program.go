// Package program knows which program this is, and where the one that comes with it lies.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// version and commit are set by the release build.
var version, commit = "", ""

// Version is the version of this build.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Commit is the commit that this build was made of; empty where that is not known.
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return ""
}

// Description is which build this is, for people.
func Description() string {
	commit := Commit()
	if commit != "" {
		const short = 12
		commit = "commit " + commit[:min(short, len(commit))] + ", "
	}
	return fmt.Sprintf("%s (%s%s, %s/%s)", Version(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Called is the name that a program was called by.
func Called(arg0 string) string { return strings.TrimSuffix(filepath.Base(arg0), ".exe") }

// MissingError says that a program was found neither in a directory nor on the PATH.
type MissingError struct{ Name, Dir string }

func (e *MissingError) Error() string { return fmt.Sprintf("the program %s was not found", e.Name) }

// Find finds a program that comes with this one: beside it, else on the PATH.
func Find(name string, env []string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			self = resolved
		}
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	if path, found := environ.LookPath(env, name); found {
		return path, nil
	}
	return "", &MissingError{name, filepath.Dir(self)}
}

// Stopgate finds the program stopgate, also for stopgated.
func Stopgate() (string, error) {
	self, err := os.Executable()
	if err == nil && Called(self) == "stopgated" {
		return Find("stopgate", os.Environ())
	}
	return self, err
}
