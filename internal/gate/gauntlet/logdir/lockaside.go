package logdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

const asidePrefix = lockName + "."

// lockAside makes a lock file that has everything but its name. It is synced,
// since one that lost its content with the power would be held for ever.
func (d Dir) lockAside(owner Owner) (*os.File, error) {
	text, err := owner.encode()
	if err != nil {
		return nil, err
	}
	file, err := createFile(d.file(asidePrefix + rand.Text()))
	if err != nil {
		return nil, err
	}
	if err = fill(file, text); err != nil {
		_ = os.Remove(file.Name())
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func fill(file *os.File, text []byte) error {
	if _, err := tryLock(file, true); err != nil { // nobody else knows the file
		return fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if _, err := file.Write(text); err != nil {
		return err
	}
	return atomicfile.Sync(file)
}

// install gives the file at aside the lock's name, if that is free or was left by
// a run that is gone, which it names.
func (d Dir) install(aside string) (gone Owner, err error) {
	// A lock that was released between two looks is worth another try. Somebody
	// who loses as often as this is in a crowd, of which one has won each time.
	for range 10 {
		err := os.Link(aside, d.file(lockName))
		if err == nil {
			return Owner{}, nil // the other name is swept away
		}
		if !errors.Is(err, fs.ErrExist) {
			return Owner{}, d.asideError(err)
		}
		left, err := d.abandoned(true)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Owner{}, err
		}
		gone = ownerIn(left)
		if err := takeOver(left, aside); !errors.Is(err, fs.ErrExist) {
			return gone, d.asideError(err)
		}
	}
	return Owner{}, d.held(Owner{})
}

// asideError is what an error in naming the file aside means. That it is gone
// means that somebody who got the lock has swept it away.
func (d Dir) asideError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return d.held(Owner{})
	}
	if err != nil {
		return fmt.Errorf("log directory %s: %w", d.path, err)
	}
	return nil
}

// sweep removes the names aside, ours and those that runs left when they were
// killed. The lock is ours, so whoever is making one now has lost anyway.
func (d Dir) sweep() {
	entries, _ := os.ReadDir(d.path) // what is not removed now is removed next time
	for _, entry := range entries {
		name, aside := strings.CutPrefix(entry.Name(), asidePrefix)
		if aside && len(name) == len(rand.Text()) {
			_ = os.Remove(d.file(entry.Name()))
		}
	}
}
