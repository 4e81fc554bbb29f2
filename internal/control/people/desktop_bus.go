//go:build unix && !darwin

package people

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
)

// noDesktop is why nothing can be shown, if so. Without a session bus, asking for one would
// start one, on which nobody shows anything.
func noDesktop(env []string) string {
	if address := environ.Get(env, "DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return ""
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(fmt.Sprintf("/run/user/%d", os.Getuid()), name)); err == nil {
			return ""
		}
	}
	return "DBUS_SESSION_BUS_ADDRESS is not set"
}

// markup writes a text so that its characters are shown: what is shown may be HTML here.
func markup(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
