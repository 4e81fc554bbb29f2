package logdir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/sys/disk"
)

// The archive is previous/. The newest generation lies in it directly, the two
// before it in previous/2 and previous/3. Files move by rename alone, in steps
// that each leave a mark of how far the move has come, so that one that was
// killed loses nothing and is finished by the next:
//
//	collect   the logs go to previous/.next
//	shift     the newest generation goes to previous/.last, 3 is emptied and
//	          becomes .spare, 2 becomes 3, .last becomes 2, .spare becomes .last
//	          .next becomes .ready
//	publish   its files go to previous/, .ready becomes .next
//
// Directories are used again because some file systems take a millisecond to
// delete one.
//
// Only files that carry one of our names are touched, outside of 2 and 3.
const (
	archiveName = "previous"
	nextName    = ".next"
	lastName    = ".last"
	readyName   = ".ready"
	spareName   = ".spare"
	secondName  = "2"
	thirdName   = "3"
)

// Clean archives the logs and the state that the last run left; moved says
// whether there was anything. The caller holds the lock.
func (d Dir) Clean() (moved bool, err error) {
	names, err := ownFiles(d.path)
	if err != nil {
		return false, err
	}
	// The logs of the state's run were archived before when it passed, so the
	// state follows them.
	if slices.Equal(names, []string{stateName}) && d.joins(stateName) {
		return true, os.Rename(d.file(stateName), d.archived(stateName))
	}
	return d.archive(names)
}

// Archive archives the logs after a run that passed. The state stays: it says
// when that was. The caller holds the lock.
func (d Dir) Archive() error {
	names, err := ownFiles(d.path)
	if err != nil {
		return err
	}
	_, err = d.archive(slices.DeleteFunc(names, func(name string) bool { return name == stateName }))
	return err
}

// Archived is where a log of the newest generation lies that was at path.
func (d Dir) Archived(path string) string { return d.archived(filepath.Base(path)) }

// Find is where a log lies that was at path: there, or in the newest generation of the
// archive. It is empty where the log is gone.
func Find(path string) string {
	for _, at := range []string{path, At(filepath.Dir(path)).Archived(path)} {
		if path != "" && disk.Exists(at) {
			return at
		}
	}
	return ""
}

func (d Dir) archived(name string) string { return filepath.Join(d.path, archiveName, name) }

// joins reports whether the newest generation is whole and lacks the file.
func (d Dir) joins(name string) bool {
	if disk.Exists(d.archived(name)) || d.holds(nextName) || d.holds(readyName) {
		return false
	}
	return d.holds("")
}

// holds reports whether there are logs in a directory of the archive.
func (d Dir) holds(name string) bool {
	names, err := ownFiles(d.archived(name))
	return err == nil && len(names) > 0
}

func (d Dir) archive(names []string) (moved bool, err error) {
	begun, err := d.finish(names)
	if err == nil && (begun || len(names) > 0) {
		moved, err = true, d.collect(names)
	}
	if err != nil {
		return moved, fmt.Errorf("archive the logs in %s: %w", d.path, err)
	}
	return moved, nil
}

// finish brings a move to its end that was killed. One that was still
// collecting has begun a generation that these names may join, unless runs have
// used one of them again since.
func (d Dir) finish(names []string) (begun bool, err error) {
	if err := d.publish(); err != nil {
		return false, err
	}
	collected, err := ownFiles(d.archived(nextName))
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(collected, func(name string) bool { return slices.Contains(names, name) }) {
		return false, d.promote()
	}
	return len(collected) > 0, nil
}

// collect makes the files, and those that were collected before, the newest
// generation.
func (d Dir) collect(names []string) error {
	if err := moveFiles(d.path, d.archived(nextName), names); err != nil {
		return err
	}
	return d.promote()
}

// promote makes what was collected the newest generation.
func (d Dir) promote() error {
	if err := d.shift(); err != nil {
		return err
	}
	if err := os.Rename(d.archived(nextName), d.archived(readyName)); err != nil {
		return err
	}
	return d.publish()
}

// shift makes room for a generation.
func (d Dir) shift() error {
	newest, err := ownFiles(d.archived(""))
	if err != nil {
		return err
	}
	if len(newest) > 0 {
		if err := moveFiles(d.archived(""), d.archived(lastName), newest); err != nil {
			return err
		}
	}
	if !d.holds(lastName) {
		return nil
	}
	if disk.Exists(d.archived(secondName)) {
		if err := d.retire(); err != nil {
			return err
		}
	}
	if err := os.Rename(d.archived(lastName), d.archived(secondName)); err != nil {
		return err
	}
	_ = os.Rename(d.archived(spareName), d.archived(lastName)) // there may be none
	return nil
}

// retire deletes the oldest generation, and makes the second the third.
func (d Dir) retire() error {
	if err := d.empty(thirdName); err != nil {
		return err
	}
	_ = os.RemoveAll(d.archived(spareName))                     // of a move that was killed
	_ = os.Rename(d.archived(thirdName), d.archived(spareName)) // there may be none
	return os.Rename(d.archived(secondName), d.archived(thirdName))
}

// empty deletes everything in a directory of the archive.
func (d Dir) empty(name string) error {
	entries, err := disk.List(d.archived(name))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(d.archived(name), entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// publish puts the files of a new generation in their place.
func (d Dir) publish() error {
	names, err := ownFiles(d.archived(readyName))
	if err != nil || !disk.Exists(d.archived(readyName)) {
		return err
	}
	if err := moveFiles(d.archived(readyName), d.archived(""), names); err != nil {
		return err
	}
	return os.Rename(d.archived(readyName), d.archived(nextName))
}

func moveFiles(from, to string, names []string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles lists the files in dir that are ours by their name.
func ownFiles(dir string) ([]string, error) {
	entries, err := disk.List(dir)
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && (entry.Name() == stateName || isGateLog(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}
