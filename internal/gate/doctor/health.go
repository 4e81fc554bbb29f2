package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Health is whether the gates of a project have what they need. OK means that something
// can be used now.
type Health struct {
	Git     ToolHealth       `json:"git"`
	Missing []MissingProgram `json:"missing"`
	// Unsure are the commands of which only a run can tell whether they are there.
	Unsure    []UnsureCommand  `json:"unsure"`
	Reviewers []ReviewerHealth `json:"reviewers"`
	// Stranded are the reviews that none of their reviewers can make.
	Stranded []string `json:"stranded"`
}

// ToolHealth is how a program is.
type ToolHealth struct {
	OK   bool   `json:"ok"`
	Path string `json:"path,omitempty"`
	Says string `json:"says,omitempty"`
}

// MissingProgram is a program or a file that a command needs and that is not there.
type MissingProgram struct {
	Gate    string `json:"gate"`
	Program string `json:"program"`
	// Conditional means that the command needs it on a condition.
	Conditional bool `json:"conditional,omitempty"`
}

// UnsureCommand is part of a command that has never run to its end in this repository.
type UnsureCommand struct {
	Gate    string `json:"gate"`
	Check   string `json:"check,omitempty"` // the name by which it can be run
	Command string `json:"command"`
}

// Remedy is what makes it sure.
func (u UnsureCommand) Remedy() string {
	if u.Check == "" {
		return "name the program in the command"
	}
	return "stopgate check --gate " + u.Check
}

// ReviewerHealth is how a reviewer is.
type ReviewerHealth struct {
	Name string `json:"name"`
	ToolHealth
	CoolingUntil *time.Time `json:"cooling_until,omitempty"`
}

// OK reports whether every gate is known to run.
func (h Health) OK() bool {
	return h.Git.OK && len(h.Missing) == 0 && len(h.Unsure) == 0 && len(h.Stranded) == 0
}

// Survey asks for the health of a project.
type Survey struct {
	Project *keeper.Project
	Environ []string
	// Gates is the environment of gates, where it is another one. Programs are looked for in it, and none is started.
	Gates    []string
	StateDir string
	// Needs says what command lines need.
	Needs need.Reader
	// Reviewers are asked about besides those that reviews name.
	Reviewers []string
	// ReviewDir is where reviewers are started.
	ReviewDir string
	// Ask gets a word out of each reviewer, which costs a little of its quota.
	Ask bool
}

// CheckHealth looks at what the gates need. It runs none of them.
func (s Survey) CheckHealth(ctx context.Context) Health {
	h := Health{Git: gitHealth(ctx), Reviewers: []ReviewerHealth{}, Stranded: []string{}}
	h.Missing, h.Unsure = s.commands(ctx)
	reviews := s.Project.Gates.Reviews()
	for _, r := range review.CheckHealth(ctx, review.Survey{
		Adapters: reviewersOf(s.Reviewers, reviews),
		Root:     s.ReviewDir,
		Environ:  s.Environ,
		StateDir: s.StateDir,
		Now:      time.Now,
		Probe:    s.Ask,
	}) {
		h.Reviewers = append(h.Reviewers, reviewerHealthOf(r))
	}
	for _, r := range reviews {
		if !slices.ContainsFunc(r.CLIPreference, h.usable) {
			h.Stranded = append(h.Stranded, r.Name)
		}
	}
	return h
}

// reviewersOf lists the reviewers that the configuration names, preferred ones
// first.
func reviewersOf(preferred []string, reviews []*config.Review) []string {
	names := slices.Clone(preferred)
	for _, r := range reviews {
		for _, name := range r.CLIPreference {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func reviewerHealthOf(h review.Health) ReviewerHealth {
	r := ReviewerHealth{Name: h.Adapter, ToolHealth: ToolHealth{OK: h.Err == nil, Path: h.Path}}
	if h.Err != nil {
		r.Says = plain.Line(h.Err.Error())
	}
	if !h.Cooling.IsZero() {
		r.CoolingUntil = &h.Cooling
	}
	return r
}

func (h *Health) usable(reviewer string) bool {
	return slices.ContainsFunc(h.Reviewers, func(r ReviewerHealth) bool { return r.Name == reviewer && r.OK })
}

// Words are for people.
func (r ReviewerHealth) Words() string {
	switch {
	case r.Path == "":
		return "Missing: it is not on the PATH"
	case r.CoolingUntil != nil:
		return fmt.Sprintf("out of quota; not asked again until %s (%s)", r.CoolingUntil.Local().Format(time.DateTime), r.Path)
	case !r.OK:
		return r.Says + " (" + r.Path + ")"
	}
	return "Installed (" + r.Path + ")"
}

func gitHealth(ctx context.Context) ToolHealth {
	path, err := exec.LookPath("git")
	if err != nil {
		return ToolHealth{Says: "not installed"}
	}
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ToolHealth{Path: path, Says: plain.Line(err.Error())}
	}
	return ToolHealth{OK: true, Path: path, Says: plain.Line(string(version))}
}
