package gittest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Init makes an empty repository on branch main. git is asked once, then its answer is copied: suites make
// hundreds of repositories, and a process is most of what one costs.
func Init(t testing.TB, dir string) {
	t.Helper()
	files, err := empty()
	checktest.OK(t, err)
	for _, file := range files {
		path := filepath.Join(dir, ".git", file.name)
		if file.folder {
			checktest.OK(t, os.MkdirAll(path, 0o755))
			continue
		}
		checktest.OK(t, os.WriteFile(path, file.content, 0o644))
	}
}

// file is a file or a folder in .git. Folders come before what is in them.
type file struct {
	name    string
	folder  bool
	content []byte
}

// empty is what git init writes, without the examples of hooks.
var empty = sync.OnceValues(func() (files []file, err error) {
	home, err := os.MkdirTemp("", "gittest-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	cmd := exec.Command("git", "init", "--quiet", "--initial-branch=main")
	cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w\n%s", err, out)
	}

	dir := filepath.Join(home, ".git")
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".sample") {
			return err
		}
		f := file{folder: entry.IsDir()}
		if f.name, err = filepath.Rel(dir, path); err == nil && !f.folder {
			f.content, err = os.ReadFile(path)
		}
		files = append(files, f)
		return err
	})
	return files, err
})
