package jsonfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// made is what came to be with a file that we made. It is noted in our own state directory:
// what is not noted there is not ours to delete.
type made struct {
	Path string   `json:"path"`
	Dirs []string `json:"dirs"` // innermost first
}

func (f *File) madePath() (string, error) {
	state, err := paths.StateDir()
	return filepath.Join(state, "made", digest.Hex(f.target)+".json"), err
}

// Make writes a file that is not there, and notes that it and its directories are ours.
func (f *File) Make(text []byte) error {
	note, err := f.madePath()
	if err != nil {
		return err
	}
	m := made{Path: f.target, Dirs: []string{}}
	for dir := filepath.Dir(f.target); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		m.Dirs = append(m.Dirs, dir)
	}
	if err := statefile.Write(note, m); err != nil {
		return err
	}
	return f.Write(text)
}

// Made reports whether we made the file.
func (f *File) Made() bool {
	_, ours := f.made()
	return ours
}

// Remove removes a file that we made, and those of its directories that we made and that are
// empty. A file that we did not make stays, as an empty object.
func (f *File) Remove() error {
	m, ours := f.made()
	if !ours || f.link {
		return f.Write([]byte("{}\n"))
	}
	if err := os.Remove(f.target); err != nil {
		return err
	}
	for _, dir := range m.Dirs {
		if os.Remove(dir) != nil { // it is not empty
			break
		}
	}
	return nil
}

func (f *File) made() (m made, ours bool) {
	note, err := f.madePath()
	if err != nil {
		return made{}, false
	}
	m, err = statefile.Read[made](note, MaxSize)
	if err != nil || m.Path != f.target {
		return made{}, false
	}
	return m, true
}

// forgetMade drops the note, if there is one.
func (f *File) forgetMade() error {
	note, err := f.madePath()
	if err != nil {
		return err
	}
	return disk.Remove(note)
}
