package supervisor

import (
	"fmt"
	"os"
)

// OpenOutput opens the file for what a session's reviewers print, to append to.
func (d Dir) OpenOutput(session string) (*os.File, error) {
	if err := CheckSession(session); err != nil {
		return nil, err
	}
	file, err := d.openAppend(d.OutputFile(session))
	if err != nil {
		return nil, fmt.Errorf("open the file for the review: %w", err)
	}
	return file, nil
}
