//go:build !linux

package supervisor

import (
	"errors"
	"os"
)

// newSpool is an empty file that nobody else can open. Where an open file cannot be
// removed there is none.
func newSpool() (*os.File, error) {
	file, err := os.CreateTemp("", "stopgate-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, errors.Join(err, os.Remove(file.Name()))
	}
	return file, nil
}
