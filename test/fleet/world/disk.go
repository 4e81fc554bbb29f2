//go:build unix

package world

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Disk is a small file system of its own, which can be filled.
type Disk struct{ dir string }

// filler is the file that takes all room.
const filler = "filler"

// SmallDisk makes a directory of a machine a file system of so many megabytes. Only root can do that; Close of the
// world takes it away.
func (m *Machine) SmallDisk(dir string, megabytes int) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0700", megabytes), "fleet", dir).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("mount a file system at %s: %w\n%s", dir, err, out)
	}
	return &Disk{dir}, nil
}

// Fill takes all room.
func (d *Disk) Fill() error {
	f, err := os.OpenFile(filepath.Join(d.dir, filler), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Free gives the room back.
func (d *Disk) Free() error {
	if err := os.Remove(filepath.Join(d.dir, filler)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
