// Package need is what command lines need to run to their ends. A shell's grammar takes a large
// parser, which only stopgated links: doctor asks it.
package need

import "context"

// Need is something without which a command line does not run to its end.
type Need struct {
	Kind   Kind   `json:"kind"`
	Text   string `json:"text"`
	Shell  string `json:"shell,omitempty"` // of a program without a path: whose builtins count beside programs
	Dir    string `json:"dir,omitempty"`   // of a relative path: where it begins, from where the line runs
	Lookup        // of a manifest
	Task   string `json:"task,omitempty"` // that a manifest is to have
	// Maybe means that the line may find it elsewhere, make it, or look whether it is there.
	Maybe bool `json:"maybe,omitempty"`
	// Branch means that a condition decides whether it is needed.
	Branch bool `json:"branch,omitempty"`
}

// Kind is what kind of thing is needed.
type Kind string

// The kinds.
const (
	Program Kind = "program"
	File    Kind = "file"
	// Tool is a program of the project's own packages, which only their runner finds.
	Tool Kind = "tool"
	// Manifest is one of the files that tell a program the tasks of a project, and Task one of
	// those.
	Manifest Kind = "manifest"
	Task     Kind = "task"
	// Riddle is a command that only the shell can tell.
	Riddle Kind = "riddle"
)

// Reader answers a question about command lines with the needs of each.
type Reader func(context.Context, Question) ([][]Need, error)

// Question is about command lines.
type Question struct {
	Home  string   `json:"home"` // what $HOME and ~ stand for
	Lines []string `json:"lines"`
}
