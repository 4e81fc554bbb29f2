//go:build linux

package packages

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestIssue19TheRPMIsInstalledUsedAndRemoved(t *testing.T) {
	t.Parallel()
	environtest.Need(t, "rpm")
	file, root := packaged(t, "*.rpm"), t.TempDir()
	rpm := func(args ...string) string {
		return say(t, asRoot(t, "rpm", append([]string{"--root", root, "--dbpath", "/rpmdb"}, args...)...))
	}

	rpm("--install", "--nosignature", file)
	if out := rpm("--query", "stopgate"); !strings.HasPrefix(out, "stopgate-1.2.3~rc.1-1.") {
		t.Errorf("%s", out)
	}
	if out := rpm("--verify", "stopgate"); out != "" {
		t.Errorf("installed otherwise than packed: %s", out)
	}
	use(t, filepath.Join(root, "usr", "bin"), "v"+version)
	checkSystemFiles(t, root, "usr/share/zsh/site-functions/_stopgate", "usr/share/licenses/stopgate/LICENSE")

	rpm("--erase", "stopgate")
	left := slices.DeleteFunc(left(t, root), func(path string) bool { return strings.HasPrefix(path, "rpmdb/") })
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
