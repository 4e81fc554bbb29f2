package config

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
)

// Gates are all gates of a project, under the entry points that lead to them.
type Gates struct {
	EntryPoints []EntryPoint
}

// Reviews lists each review once, in the order of the entry points.
func (g *Gates) Reviews() (all []*Review) {
	for _, ep := range g.EntryPoints {
		for _, r := range ep.Reviews {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// HasGates reports whether there is anything to ask when an agent stops.
func (p *Project) HasGates() bool {
	return len(p.entryPoints) > 0 || len(p.Gauntlet.StopHook.Runner) > 0
}

// EntryPoint says which gates look at a change below a path.
type EntryPoint struct {
	// Path is a file or folder below the project's root, "." for all of it,
	// "parent/*" for each folder in parent, or a pattern.
	Path    string
	Exclude []string
	Checks  []*Check
	Reviews []*Review
	Pos     document.Position
}

// Gate is what checks and reviews have in common.
type Gate struct {
	Name       string
	Parallel   bool
	RunInCI    bool
	RunLocally bool
	// Timeout is for one run of the command, or one call of a reviewer.
	Timeout time.Duration
	// OnError says what a gate leads to that could not run.
	OnError OnError
	// Cache lets a pass stand for the next run on the same content.
	Cache bool
	// Inputs are patterns of the files that a pass depends on, ignored ones
	// included; none means the whole working tree.
	Inputs []string
	// Env names variables, and Tools commands that print a version, on which a
	// pass depends as well.
	Env   []string
	Tools []string
	// Reads says what else a pass depends on; nil where the gate does not say.
	Reads *[]Reading
	// AcceptProof lets a signed pass on another machine stand for a run in CI. It is left out
	// where it is not set: what older versions proved stays proven.
	AcceptProof bool `json:",omitempty"`
	Pos         document.Position
}

// Reading is something outside the working tree that gates read.
type Reading string

// readsGit is HEAD, the branch, the index and the base.
const readsGit Reading = "git"

// Check is a gate that runs a command.
type Check struct {
	Gate
	// Command is handed to a shell.
	Command string
	// WorkingDirectory is relative to the project's root; empty for the entry
	// point's own.
	WorkingDirectory string
	// FailFast keeps the gates that have not started from starting when this one
	// does not pass.
	FailFast bool
	// FixInstructions is the text that goes with a failure.
	FixInstructions string
}

// Review is a gate that has a model read the changes.
type Review struct {
	Gate
	Prompt        string
	CLIPreference []string
	NumReviews    int
	Model         string
}

// OnError is what becomes of a gate that could not run.
type OnError string

const (
	// AllowOnError lets the agent go and tells a person.
	AllowOnError OnError = "allow"
	// BlockOnError takes the gate for failed.
	BlockOnError OnError = "block"
)

// Priority is how much a violation matters.
type Priority string

// The priorities, from most to least.
const (
	Critical Priority = "critical"
	High     Priority = "high"
	Medium   Priority = "medium"
	Low      Priority = "low"
)

// AtLeast reports whether p matters as much as floor. An unknown priority matters
// most: it is not for us to forgive.
func (p Priority) AtLeast(floor Priority) bool { return p.rank() >= floor.rank() }

func (p Priority) rank() int {
	switch p {
	case Low:
		return 1
	case Medium:
		return 2
	case High:
		return 3
	}
	return 4
}

// Gauntlet holds the settings of config.yml that are about all gates.
type Gauntlet struct {
	// BaseBranch is what changes are counted from; empty where nobody said.
	BaseBranch string
	// LogDir is relative to the project's root.
	LogDir        string
	AllowParallel bool
	// MaxParallel is how many gates run at once; 0 means one for each core.
	MaxParallel int
	// MaxRetries is how many failing runs block before a person is asked.
	MaxRetries int
	// NewIssues is the least priority at which a review that verifies fixes
	// may raise something new.
	NewIssues Priority
	CLI       CLI
	StopHook  StopHook
	DebugLog  DebugLog
	// SkipCritical says who may skip a critical violation.
	SkipCritical SkipCritical
}

// CLI says which programs review.
type CLI struct {
	DefaultPreference []string
	// CheckUsageLimit makes health ask each of them for a word.
	CheckUsageLimit bool
}

// SkipCritical is who may skip a critical violation.
type SkipCritical string

const (
	// SkipByPerson needs somebody at a terminal. It is the default.
	SkipByPerson SkipCritical = "person"
	// SkipByAnyone lets the agent do it.
	SkipByAnyone SkipCritical = "anyone"
)

// DebugLog is a log of runs for people who look for a fault.
type DebugLog struct {
	Enabled *bool // nil: not set
	MaxSize int64 // bytes; 0: not set
}

// StopHook is what one place, the environment, the project or the global
// config, says about the stop hook. What it leaves open is nil.
type StopHook struct {
	Enabled     *bool
	RunInterval *time.Duration
	// VerifyFixes checks again after a block instead of letting the agent go.
	VerifyFixes *bool
	// Runner is an external gauntlet to run instead of the gates.
	Runner   []string
	Deadline *time.Duration
}

// StopHookSettings is what holds once every place was asked.
type StopHookSettings struct {
	Enabled     bool
	RunInterval time.Duration
	VerifyFixes bool
	Runner      []string
	Deadline    time.Duration
}
