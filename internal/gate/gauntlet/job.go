package gauntlet

import (
	"encoding/json"
	"path"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
)

// Kind is what a gate is.
type Kind string

// The kinds of gates.
const (
	KindCheck  Kind = "check"
	KindReview Kind = "review"
)

// Job is a gate at an entry point.
type Job struct {
	Kind   Kind
	Entry  string // the path that matched; a folder where the entry point is parent/*
	Check  *config.Check
	Review *config.Review
	// Dir is where a check runs, relative to the project's root.
	Dir     string
	folder  bool // Entry is a folder that parent/* led to, whatever its name looks like
	exclude []string
	place   [2]int // in the configuration: entry point, gate
	key     string // what a pass of it would prove; empty for nothing
	// also are jobs that would run the same command in the same place. What comes
	// of this one is true of them.
	also []*Job
}

// Gate is what the job's check or review has in common with every gate.
func (j *Job) Gate() *config.Gate {
	if j.Check != nil {
		return &j.Check.Gate
	}
	return &j.Review.Gate
}

// Includes reports whether a file belongs to the job's entry point.
func (j *Job) Includes(file string) bool {
	if excluded(j.exclude, file) {
		return false
	}
	if j.folder {
		return below(j.Entry, file)
	}
	return leads(j.Entry, file)
}

// home is the folder that the job's inputs are relative to, besides the project's root: the one where a check runs, or the
// entry point of a review. It is empty if the entry point is a pattern.
func (j *Job) home() string {
	switch {
	case j.Check != nil:
		return j.Dir
	case j.folder || !isPattern(j.Entry):
		return j.Entry
	}
	return ""
}

// definition is a hash of everything that the configuration says about the job.
// Where it is written does not matter.
func (j *Job) definition() string {
	d := struct {
		Kind       Kind
		Entry, Dir string
		Exclude    []string
		Check      *config.Check
		Review     *config.Review
	}{j.Kind, j.Entry, j.Dir, j.exclude, nil, nil}
	if j.Check != nil {
		check := *j.Check
		check.Pos = document.Position{}
		d.Check = &check
	}
	if j.Review != nil {
		review := *j.Review
		review.Pos = document.Position{}
		d.Review = &review
	}
	return hashOf(d)
}

// command names what the configuration has a check run, and where. Its Dir is not part of that: it
// changes with what is in the tree, which agents write. For a review it names its whole definition.
func (j *Job) command() string {
	if j.Check == nil {
		review := *j.Review
		review.Pos = document.Position{}
		return hashOf(review)
	}
	return hashOf([]string{j.Check.Command, j.Check.WorkingDirectory})
}

// Before is the last time that the job ended by itself with the command that it has now.
func (j *Job) Before(history ledger.Finishes) (last ledger.Finish, found bool) {
	return history.Of(j.ID(), j.command())
}

// Ran is Before for the gate: of an entry point parent/*, that is also the job of a folder that is gone, for folders are
// renamed. A folder that is there has a history of its own.
func (j *Job) Ran(history ledger.Finishes, root string) (last ledger.Finish, found bool) {
	if last, found = j.Before(history); found || !j.folder {
		return last, found
	}
	for id, one := range history {
		entry := entryOf(id)
		sibling := entry != "." && jobID(j.Kind, entry, j.Gate().Name) == id && path.Dir(entry) == path.Dir(j.Entry)
		gone := sibling && !disk.Exists(filepath.Join(root, filepath.FromSlash(entry)))
		if gone && one.Command == j.command() && (!found || one.At.After(last.At)) {
			last, found = one, true
		}
	}
	return last, found
}

// hashOf is a hash of a part of the configuration.
func hashOf(part any) string {
	text, err := json.Marshal(part)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return digest.Hex(text)
}

// checkDir is where a check of an entry point runs: where it says, else in the
// entry point's folder. A file's folder is the one that it lies in, and a pattern
// has none but the project's root.
func checkDir(check *config.Check, entry string, isDir func(string) bool) string {
	switch {
	case check.WorkingDirectory != "":
		return path.Clean(check.WorkingDirectory)
	case isDir(entry): // also one whose name looks like a pattern
		return entry
	case isPattern(entry):
		return "."
	}
	return path.Dir(entry)
}
