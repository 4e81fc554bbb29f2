package settings

import (
	"bytes"
	"io/fs"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// newMode is the mode of a file that Install makes. The project's file is shared;
// the others may come to hold keys and tokens.
func newMode(path string) fs.FileMode {
	user, _ := Path(User, "")
	if path != user && filepath.Base(path) == "settings.json" && filepath.Base(filepath.Dir(path)) == ".claude" {
		return 0o644
	}
	return 0o600
}

// replace writes the text if it is new. The first change keeps the original. A
// file that already has something of ours and no backup is one that we made, or
// that came with the project: its bytes are no original, and uninstalling must
// not go back to them.
func replace(f *jsonfile.File, text []byte, original bool) (changed bool, err error) {
	if f.Exists && bytes.Equal(text, f.Text) {
		return false, nil
	}
	if f.Exists && original {
		if err := f.Keep(); err != nil {
			return false, err
		}
	}
	if !f.Exists {
		return true, f.Make(text)
	}
	return true, f.Write(text)
}

// restore writes what is left without us. Nil means that nothing is, of a file that was not
// there before us: it goes, if we made it.
func restore(f *jsonfile.File, text []byte) (changed bool, err error) {
	switch {
	case text == nil:
		err := f.Remove()
		return err == nil, err
	case bytes.Equal(text, f.Text):
		return false, nil
	}
	return true, f.Write(text)
}
