package errand

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// directory is an errand's directory.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) has(name string) bool {
	_, err := os.Lstat(d.path(name))
	return err == nil
}

// begun reports whether the command has begun, or never will.
func (d directory) begun() bool { return d.has("begun") || d.has("exit.json") }

func (d directory) spec() (s Spec, err error) { return s, d.read("spec.json", &s) }

// Owner is whom the errand in a directory is for.
func Owner(dir string) (string, error) {
	s, err := directory(dir).spec()
	return s.Owner, err
}

// result is how it ended, as far as that is on record.
func (d directory) result() (r Result, ended bool, err error) {
	err = d.read("exit.json", &r)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	return r, err == nil, err
}

func (d directory) read(name string, to any) error {
	text, err := os.ReadFile(d.path(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", d.path(name), err)
	}
	return nil
}

func (d directory) write(name string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return atomicfile.Write(d.path(name), text, 0o600)
}

// begin puts on record, durably, that the command begins. It fails where that is on
// record already.
func (d directory) begin(runner process.Identity) (err error) {
	text, err := json.Marshal(runner)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.path("begun"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil { // nothing has run
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, atomicfile.Sync(f), f.Close())
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(string(d))
}

// runner is the process that runs the command; none where that cannot be read.
func (d directory) runner() (i process.Identity) {
	_ = d.read("begun", &i)
	return i
}

// killed puts on record that the errand was ended from outside, where nothing is on
// record about its end. It is called with the lock held.
func (d directory) killed(now time.Time) error {
	if d.has("exit.json") {
		return nil
	}
	return d.write("exit.json", Result{Code: -1, Ended: now.UTC()})
}
