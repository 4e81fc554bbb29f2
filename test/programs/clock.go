package programs

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed testdata/clock.go
var clockSource []byte

// ClockVariable names the file that sets the clock of programs that BuildWithClock built: by its first eight bytes,
// the seconds that are added to the time of day. What measures time is not changed by it.
const ClockVariable = "TEST_CLOCK"

// BuildWithClock is Build with a clock of stopgate and stopgated that a test can set. That takes some minutes the
// first time: everything is compiled with another package time.
func BuildWithClock(dir string, others ...string) error {
	overlay, err := os.MkdirTemp("", "stopgate-clock")
	if err != nil {
		return err
	}
	defer os.RemoveAll(overlay)
	list, err := overlayTime(overlay)
	if err != nil {
		return err
	}
	if err := build(dir, []string{"-overlay", list}, "cmd/stopgate", "cmd/stopgated"); err != nil {
		return err
	}
	return buildOthers(dir, others)
}

// overlayTime writes the changed files of package time into a directory, and their list.
func overlayTime(dir string) (list string, err error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		return "", err
	}
	const asks = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), asks) != 1 {
		return "", errors.New("time.Now is not what it was: this Go needs another way to set its clock")
	}
	changed, added := filepath.Join(dir, "time.go"), filepath.Join(dir, "clock.go")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(source, "time.go"): changed, filepath.Join(source, "clock.go"): added,
	}})
	list = filepath.Join(dir, "overlay.json")
	return list, errors.Join(err,
		os.WriteFile(changed, []byte(strings.Replace(string(text), asks, asks+"\tsec += jumped()\n", 1)), 0o600),
		os.WriteFile(added, clockSource, 0o600),
		os.WriteFile(list, replaced, 0o600))
}
