package gauntlet

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// takeEdits takes over what the agent wrote into the review files. Anything but a
// status and its reason is no matter of the agent's.
func (e *execution) takeEdits(v *view) {
	for i := range v.state.Open {
		failure := &v.state.Open[i]
		if len(failure.Violations) == 0 {
			continue
		}

		var edited review.File
		read := 0
		for _, path := range failure.Files {
			file, err := readReview(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // cleaned: nothing was said
			}
			if err != nil {
				e.remark(failure.Job, fmt.Sprintf("%v; its violations stay as they were", err))
				continue
			}
			edited.Violations = append(edited.Violations, file.Violations...)
			read++
		}
		if read < len(failure.Files) && len(edited.Violations) == 0 {
			continue
		}

		var remarks []string
		failure.Violations, remarks = review.ApplyEdits(failure.Violations, edited, e.maySkip)
		for _, remark := range remarks {
			e.remark(failure.Job, remark)
		}
	}
}

// remark notes what of the agent's words was not taken over.
func (e *execution) remark(job, text string) {
	e.say("note: %s: %s", job, text)
	e.remarks[job] = append(e.remarks[job], text)
}

// readReview reads a file that the agent may have edited. Whatever it has made of
// it, we read no more than a review can have.
func readReview(path string) (review.File, error) {
	const most = 8 << 20
	data, err := regular.Read(path, most)
	if err != nil {
		return review.File{}, err
	}
	file, err := review.ParseFile(data)
	if err != nil {
		return review.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// maySkip reports whether the agent may skip a critical violation by itself.
func (e *execution) maySkip(review.Violation) bool {
	return e.Project.Config.Gauntlet.SkipCritical == config.SkipByAnyone
}
