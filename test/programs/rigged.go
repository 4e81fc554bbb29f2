package programs

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed testdata/rig.go
var rigSource string

// RigVariable names the file by which a test sets the clock of programs that BuildRigged built, and slows their
// disk: two numbers of eight bytes, the seconds that are added to the time of day, and the nanoseconds that each
// sync of a file takes longer. What measures time is not changed, nor is SQLite.
const RigVariable = "TEST_RIG"

// patch is a change of a file of Go's own.
type patch struct{ file, before, after string }

var patches = []patch{
	{"time/time.go", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += clockAhead()\n"},
	{"internal/poll/fd_fsync_posix.go", "import \"syscall\"\n", "import (\n\t\"syscall\"\n\t\"time\"\n)\n"},
	{"internal/poll/fd_fsync_posix.go", "func (fd *FD) Fsync() error {\n", "func (fd *FD) Fsync() error {\n\ttime.WaitForDisk()\n"},
}

// BuildRigged is Build with a clock and a disk that a test can change. It takes some minutes the first time:
// everything is compiled with other packages time and internal/poll.
func BuildRigged(dir string, others ...string) error {
	files, err := os.MkdirTemp("", "stopgate-rigged")
	if err != nil {
		return err
	}
	defer os.RemoveAll(files)
	list, err := overlay(files)
	if err != nil {
		return err
	}
	if err := build(dir, []string{"-overlay", list}, "cmd/stopgate", "cmd/stopgated"); err != nil {
		return err
	}
	return buildOthers(dir, others)
}

// overlay writes the changed files into a directory, and the list of them that go build reads.
func overlay(dir string) (list string, err error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src")
	texts := map[string]string{"time/rig.go": rigSource}
	for _, p := range patches {
		if texts[p.file] == "" {
			text, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(p.file)))
			if err != nil {
				return "", err
			}
			texts[p.file] = string(text)
		}
		if strings.Count(texts[p.file], p.before) != 1 {
			return "", fmt.Errorf("%s is not what it was: this Go needs another patch", p.file)
		}
		texts[p.file] = strings.Replace(texts[p.file], p.before, p.after, 1)
	}

	replace := map[string]string{}
	for name, text := range texts {
		changed := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		replace[filepath.Join(source, filepath.FromSlash(name))] = changed
		err = errors.Join(err, os.WriteFile(changed, []byte(text), 0o600))
	}
	text, wrong := json.Marshal(map[string]any{"Replace": replace})
	list = filepath.Join(dir, "overlay.json")
	return list, errors.Join(err, wrong, os.WriteFile(list, text, 0o600))
}
