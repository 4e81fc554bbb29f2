//go:build unix

package owner

import (
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// foreign names the owner of a place that is neither the caller's nor root's. Through sudo the
// caller is who called sudo, as for git.
func foreign(place string, variables []string) (who string, foreign bool) {
	info, err := os.Lstat(place)
	if err != nil {
		return "", false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	uid := int(stat.Uid)
	if uid == 0 || uid == os.Geteuid() || os.Geteuid() == 0 && environ.Get(variables, "SUDO_UID") == strconv.Itoa(uid) {
		return "", false
	}
	who = "user " + strconv.Itoa(uid)
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		who = plain.Name(u.Username)
	}
	return who, true
}
