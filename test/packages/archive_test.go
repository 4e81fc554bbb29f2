//go:build linux

package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/test/docs"
)

// The lines of docs/install.md unpack the archive into ~/.local and take it out again.
func TestIssue19TheArchiveIsInstalledUsedAndRemoved(t *testing.T) {
	t.Parallel()
	archive := packaged(t, "stopgate_*.tar.gz")
	home := t.TempDir()
	local := filepath.Join(home, ".local")
	check(t, os.MkdirAll(filepath.Join(local, "bin"), 0o755))
	checktest.Write(t, filepath.Join(local, "bin", "another"), "")
	follow := func(beginning string) {
		line := strings.ReplaceAll(documented(t, beginning), "stopgate_VERSION_linux_amd64.tar.gz", archive)
		cmd := exec.Command("sh", "-c", line)
		cmd.Env = append(os.Environ(), "HOME="+home)
		say(t, cmd)
	}

	follow("tar -xzf")
	use(t, filepath.Join(local, "bin"), "v"+version)

	follow("tar -tzf")
	if left := left(t, local); !slices.Equal(left, []string{"bin/another"}) {
		t.Errorf("left behind: %q", left)
	}
}

// documented is the line of docs/install.md that begins so.
func documented(t *testing.T, beginning string) string {
	t.Helper()
	pages, err := docs.Pages(repository)
	check(t, err)
	for _, page := range pages {
		if page.Name != "docs/install.md" {
			continue
		}
		for line := range strings.Lines(page.Text) {
			if strings.HasPrefix(line, beginning) {
				return line
			}
		}
	}
	t.Fatalf("docs/install.md has no line that begins with %q", beginning)
	return ""
}

// Two releases of the same source are the same, byte for byte.
func TestIssue19AReleaseCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	sums := checktest.Read(t, packaged(t, "checksums.txt"))
	cmd := exec.Command("sha256sum", "--check", "--strict", "checksums.txt")
	cmd.Dir = dist
	say(t, cmd)
	for _, kind := range []string{".tar.gz", ".deb", ".rpm", ".cdx.json", ".rb", ".tgz"} {
		if !strings.Contains(sums, kind+"\n") {
			t.Errorf("no checksum of a file %s:\n%s", kind, sums)
		}
	}

	again := t.TempDir()
	check(t, releaseTo(again))
	if other := checktest.Read(t, filepath.Join(again, "checksums.txt")); other != sums {
		t.Errorf("%s\nand then\n%s", sums, other)
	}
}
