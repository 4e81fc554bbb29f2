package wake

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	letterSuffix = ".json"
	// maxFile is more than a letter takes within its bounds, every character escaped.
	maxFile = 64 << 20
)

// letterFile is the name of a letter's file. The number gives the order: clocks
// are turned back.
type letterFile struct {
	number int64
	key    string
}

func (f letterFile) name() string { return f.stem() + letterSuffix }

func (f letterFile) stem() string { return fmt.Sprintf("%012d-%s", f.number, f.key) }

// parseName reads the name of a letter's file.
func parseName(name string) (f letterFile, ok bool) {
	stem, ok := strings.CutSuffix(name, letterSuffix)
	if !ok {
		return f, false
	}
	digits, key, _ := strings.Cut(stem, "-")
	number, err := strconv.ParseInt(digits, 10, 64)
	f = letterFile{number: number, key: key}
	// The last condition leaves one spelling of each name.
	return f, err == nil && number > 0 && number < maxNumber && isKey(key) && f.name() == name
}

// maxNumber keeps a foreign file from using up the numbers.
const maxNumber = 1 << 60

// lettersOf are the letters' files among the entries of a directory, the oldest first.
func lettersOf(entries []fs.DirEntry) []letterFile {
	var files []letterFile
	for _, entry := range entries {
		if f, ok := parseName(entry.Name()); ok {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b letterFile) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.key, b.key))
	})
	return files
}

// errNoLetter says that a file will never be read as what it should be.
var errNoLetter = errors.New("invalid message file")

// readRegular reads a file of ours, unless it is something else.
func readRegular(path string, most int64) ([]byte, error) {
	data, err := regular.ReadNoFollow(path, most)
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return nil, fmt.Errorf("%w: not a regular file", errNoLetter)
	case errors.Is(err, regular.ErrTooLarge):
		return nil, fmt.Errorf("%w: more than %d bytes", errNoLetter, most)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: %w", errNoLetter, err)
	}
	return data, err
}

// syncParents makes new directories durable, which writing a file in them does not.
// It does what it can: not every system syncs directories.
func syncParents(dir string, levels int) {
	for range levels {
		dir = filepath.Dir(dir)
		_ = atomicfile.SyncDir(dir)
	}
}

// removeLitter removes the files that are unfinished. Files are written under the box's lock only, so a
// process that is gone left them to whoever has it.
func removeLitter(dir string) {
	for _, path := range atomicfile.Temporary(dir) {
		_ = os.Remove(path)
	}
}

// ignoreMissing is for files that need not be there, or may be damaged.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoLetter) {
		return nil
	}
	return err
}
