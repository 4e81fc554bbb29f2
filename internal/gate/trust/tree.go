package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	// Bounds on what is looked at on every hook call. A .gauntlet/ holds a few
	// short files.
	maxFiles = 1000
	maxBytes = 8 << 20
)

// file is one file under .gauntlet/.
type file struct {
	Path string `json:"path"` // slash-separated, below .gauntlet/
	Hash string `json:"sha256"`
	Exec bool   `json:"exec,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// readTree reads every file below dir but caches, in the order of their names. A missing
// directory is an empty tree. Links to files are followed, since what they hold
// is what would run; anything that is neither file nor directory is refused.
func readTree(dir string) ([]file, error) {
	var files []file
	size := 0
	root, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && entry.Name() == cacheDir {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}

		rel, err := filepath.Rel(root, path)
		if err != nil || isCache(filepath.ToSlash(rel)) {
			return err
		}
		if !utf8.ValidString(rel) {
			return fmt.Errorf("%q: a file with this name cannot be approved", rel) // it would not survive JSON
		}

		f, err := readFile(path, maxBytes-size)
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		f.Path = filepath.ToSlash(rel)
		files = append(files, f)
		if size += len(f.Data); len(files) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		return nil
	})
	return files, err
}

func readFile(path string, room int) (file, error) {
	f, err := regular.Open(path)
	if errors.Is(err, regular.ErrNotRegular) {
		return file{}, errors.New("is not a file that can be approved")
	}
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return file{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(room)+1))
	if err != nil {
		return file{}, err
	}
	if len(data) > room {
		return file{}, fmt.Errorf("more than %d MiB in all", maxBytes>>20)
	}
	return file{Hash: digest.Hex(data), Exec: info.Mode().Perm()&0o100 != 0, Data: data}, nil
}

// hashTree is the identity of a tree: names, contents and what is executable.
func hashTree(files []file) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %s %t\n", f.Path, f.Hash, f.Exec)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// added follows the name of a file that was not approved.
const added = " (new)"

// changes names the files in which two trees differ, for a person to read.
func changes(approved, live []file) []string {
	key := func(f file) string { return f.Hash + fmt.Sprint(f.Exec) }
	was := make(map[string]string, len(approved))
	for _, f := range approved {
		was[f.Path] = key(f)
	}
	var out []string
	for _, f := range live {
		old, known := was[f.Path]
		delete(was, f.Path)
		switch {
		case !known:
			out = append(out, plain.Name(f.Path)+added)
		case old != key(f):
			out = append(out, plain.Name(f.Path))
		}
	}
	for _, f := range approved {
		if _, gone := was[f.Path]; gone {
			out = append(out, plain.Name(f.Path)+" (missing)")
		}
	}
	return out
}

// Summary lists changed files for a message, shortened.
func Summary(changed []string) string {
	const most = 5
	if len(changed) > most {
		changed = append(changed[:most:most], "…")
	}
	return strings.Join(changed, ", ")
}
