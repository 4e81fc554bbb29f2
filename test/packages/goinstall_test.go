//go:build linux

package packages

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// source is a file of the module, for the zip.
type source struct{ path string }

func (s source) Path() string                 { return s.path }
func (s source) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(repository, s.path)) }
func (s source) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(repository, s.path)) }

// proxy is a directory that serves this working tree as a version of the module, as proxy.golang.org would. Only what
// the programs are made of is in it.
func proxy(t *testing.T, version string) string {
	t.Helper()
	sources := []zip.File{source{"go.mod"}, source{"go.sum"}, source{"LICENSE"}}
	for _, dir := range []string{"cmd", "internal"} {
		check(t, fs.WalkDir(os.DirFS(repository), dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				sources = append(sources, source{path})
			}
			return err
		}))
	}

	dir := t.TempDir()
	of := filepath.Join(dir, "github.com", "stopgate", "stopgate", "@v")
	check(t, os.MkdirAll(of, 0o755))
	checktest.Write(t, filepath.Join(of, "list"), version+"\n")
	checktest.Write(t, filepath.Join(of, version+".info"), `{"Version": "`+version+`"}`)
	checktest.Write(t, filepath.Join(of, version+".mod"), checktest.Read(t, filepath.Join(repository, "go.mod")))
	file, err := os.Create(filepath.Join(of, version+".zip"))
	check(t, err)
	defer file.Close()
	check(t, zip.Create(file, module.Version{Path: "github.com/stopgate/stopgate", Version: version}, sources))
	return dir
}

// Go refuses a whole module for one file whose name some system cannot store.
func TestIssue19EveryFileMayBePartOfAModule(t *testing.T) {
	t.Parallel()
	var sources []zip.File
	check(t, fs.WalkDir(os.DirFS(repository), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && notTracked(path) {
			return fs.SkipDir
		}
		if err == nil && entry.Type().IsRegular() {
			sources = append(sources, source{path})
		}
		return err
	}))

	checked, err := zip.CheckFiles(sources)
	check(t, err)
	if len(checked.Valid) < 1000 || len(checked.Invalid) > 0 {
		t.Errorf("%d valid, %v", len(checked.Valid), checked.Invalid)
	}
}

// notTracked reports whether a directory is what git ignores, or git's own.
func notTracked(path string) bool {
	name := filepath.Base(path)
	return name == ".git" || name == "node_modules" || path == "bin" || path == "dist" || path == "site"
}

func TestIssue19GoInstallsTheProgramsAndRmRemovesThem(t *testing.T) {
	t.Parallel()
	const version = "v1.2.3"
	bin, modules := t.TempDir(), t.TempDir()
	cache := strings.TrimSpace(say(t, exec.Command("go", "env", "GOMODCACHE")))

	cmd := exec.Command("go", "install", "github.com/stopgate/stopgate/cmd/...@"+version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+modules, "CGO_ENABLED=0", "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off", "GOWORK=off",
		"GOPROXY=file://"+proxy(t, version)+",file://"+filepath.Join(cache, "cache", "download"))
	say(t, cmd)
	use(t, bin, version)

	check(t, os.Remove(filepath.Join(bin, "stopgate")))
	check(t, os.Remove(filepath.Join(bin, "stopgated")))
	if left := left(t, bin); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
