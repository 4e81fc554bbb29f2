package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// memory is what launches put into one settings file, so that a later one can take
// it out again.
type memory struct {
	Path string         `json:"path"` // of the settings file, links resolved
	Put  []settings.Put `json:"put,omitempty"`

	file string
}

// memoryPrefix begins the name of the file of a memory.
const memoryPrefix = "settings-"

// errMemory says that what we would put into a settings file cannot be remembered.
var errMemory = errors.New("cannot record which settings are the provider's")

// memoryOf reads what is remembered of a settings file. A memory that is damaged from
// outside is an error: without it a provider's settings would stay for ever.
func (r Registry) memoryOf(path string) (memory, error) {
	path = resolved(path)
	file := filepath.Join(r.dir, memoryPrefix+digest.Hex(path)[:32]+".json")
	m, err := statefile.Read[memory](file, maxRecord)
	m.Path, m.file = path, file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w: %s: %w", errMemory, file, err)
	}
	return m, nil
}

// with is what is remembered and more, each of it once.
func (m *memory) with(more []settings.Put) []settings.Put {
	all := slices.Clone(m.Put)
	for _, p := range more {
		same := func(q settings.Put) bool { return slices.Equal(p.Path, q.Path) && bytes.Equal(p.Value, q.Value) }
		if !slices.ContainsFunc(all, same) {
			all = append(all, p)
		}
	}
	return all
}

// store replaces what is remembered.
func (m *memory) store(put []settings.Put) error {
	if len(m.Put) == 0 && len(put) == 0 {
		return nil
	}
	old, _ := json.Marshal(m) // both were decoded or checked, and encode
	m.Put = put
	text, _ := json.Marshal(m)
	var err error
	switch {
	case bytes.Equal(old, text):
	case len(put) == 0:
		err = os.Remove(m.file)
	default:
		err = statefile.Write(m.file, m)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errMemory, err)
	}
	return nil
}

// resolved is the one name of a file that may have several. Its directories need not
// exist yet.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// additions are the values that merging wanted under there would add, in the form in
// which settings.Apply tells them.
func additions(there, wanted Object, at []string) (put []settings.Put) {
	for _, name := range sorted(wanted) {
		path := append(slices.Clone(at), name)
		_, exists := there[name]
		below, isObject := objectIn(there[name])
		inner, wantsObject := objectIn(wanted[name])
		if !exists && wantsObject {
			put = append(put, settings.Put{Path: path, Value: json.RawMessage("{}")})
		}
		switch {
		case wantsObject && (isObject || !exists):
			put = append(put, additions(below, inner, path)...)
		case !exists:
			value, _ := json.Marshal(wanted[name]) // as it is written down
			put = append(put, settings.Put{Path: path, Value: value})
		}
	}
	return put
}
