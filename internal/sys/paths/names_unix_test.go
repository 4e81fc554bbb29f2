//go:build unix

package paths

import (
	"path/filepath"
	"testing"
)

func TestRulingC8NamesThatOnlyUnixHas(t *testing.T) {
	const dir = "a b\n'c'"
	root := tree(t, dir+"/.gauntlet/config.yml", dir+"/d \"e\"/")
	chmod(t, root, 0o755)
	if got, _ := ProjectRoot(HasConfig, filepath.Join(root, dir, `d "e"`)); got != filepath.Join(root, dir) {
		t.Errorf("got %q", got)
	}
}
