package paths

import (
	"os/user"
	"path/filepath"
	"runtime"
)

// Home is the person's home directory: what the environment says or, where it says nothing, UserHome. Claude Code falls
// back in the same way, so a hook that is called without HOME finds what the person approved. It is empty where
// none is known.
func Home(getenv func(name string) string) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if home := getenv(name); home != "" {
		return home
	}
	return UserHome()
}

// UserHome is the home directory that the system has on record for the user; empty where it has none.
func UserHome() string {
	u, err := currentUser()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return ""
	}
	return u.HomeDir
}

// currentUser is replaced in tests.
var currentUser = user.Current
