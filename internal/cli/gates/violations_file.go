package gates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// write puts the violation's status and result into every review file that has
// it, for whoever reads it there.
func (v openViolation) write() (errs []error) {
	for _, path := range v.files {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a clean has put it away
		}
		edited, found, err := text, false, err
		if err == nil {
			edited, found, err = answerIn(text, &v.Violation)
		}
		if found {
			err = atomicfile.Write(path, edited, 0o600)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}
	return errs
}

// answerIn changes the status and the result of a violation in the text of a
// review file, and not one character besides.
func answerIn(text []byte, v *review.Violation) (edited []byte, found bool, err error) {
	file, err := review.ParseFile(text)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(file.Violations, func(entry review.Violation) bool { return entry.ID == v.ID })
	if i < 0 {
		return nil, false, nil
	}
	document, err := hujson.Parse(text)
	if err != nil {
		return nil, false, err
	}
	type change struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	patch, err := json.Marshal([]change{
		{"add", fmt.Sprintf("/violations/%d/status", i), string(v.Status)},
		{"add", fmt.Sprintf("/violations/%d/result", i), v.Result},
	})
	if err != nil {
		return nil, false, err
	}
	if err := document.Patch(patch); err != nil {
		return nil, false, err
	}
	edited = document.Pack()
	if file, err = review.ParseFile(edited); err != nil {
		return nil, false, err
	}
	if got := file.Violations[i]; got.Status != v.Status || got.Result != v.Result {
		return nil, false, errors.New("it names a field twice")
	}
	return edited, true, nil
}
