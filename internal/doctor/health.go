package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/gauntlet"
	"github.com/stopgate/stopgate/internal/gauntlet/review"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/plain"
	"github.com/stopgate/stopgate/internal/process"
)

// Health is whether the gates of a project have what they need. OK means that something
// can be used now.
type Health struct {
	Git       ToolHealth       `json:"git"`
	Missing   []MissingProgram `json:"missing"`
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

// MissingProgram is one that a command starts and that is not there.
type MissingProgram struct {
	Gate    string `json:"gate"`
	Program string `json:"program"`
}

// ReviewerHealth is how a reviewer is.
type ReviewerHealth struct {
	Name string `json:"name"`
	ToolHealth
	CoolingUntil *time.Time `json:"cooling_until,omitempty"`
}

// OK reports whether every gate can run.
func (h Health) OK() bool { return h.Git.OK && len(h.Missing) == 0 && len(h.Stranded) == 0 }

// Survey asks for the health of a project.
type Survey struct {
	Project  *keeper.Project
	Environ  []string
	StateDir string
	// Reviewers are asked about besides those that reviews name.
	Reviewers []string
	// ReviewDir is where reviewers are started.
	ReviewDir string
	// Ask gets a word out of each reviewer, which costs a little of its quota.
	Ask bool
}

// CheckHealth looks at what the gates need. It runs none of them.
func (s Survey) CheckHealth(ctx context.Context) Health {
	h := Health{Git: gitHealth(ctx), Missing: s.missing(ctx), Reviewers: []ReviewerHealth{}, Stranded: []string{}}
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

// missing lists the programs of checks and of the project's own commands for a stop that a
// shell does not find.
func (s Survey) missing(ctx context.Context) []MissingProgram {
	missing := []MissingProgram{}
	look := func(gate, dir, line string) {
		for _, program := range programs(line) {
			m := MissingProgram{plain.Line(gate), plain.Line(program)}
			if !slices.Contains(missing, m) && !s.found(ctx, dir, program) {
				missing = append(missing, m)
			}
		}
	}
	if runner := s.Project.Config.Gauntlet.StopHook.Runner; len(runner) > 0 && !s.found(ctx, ".", runner[0]) {
		missing = append(missing, MissingProgram{"stop_hook.runner", plain.Line(runner[0])})
	}
	for _, job := range gauntlet.Jobs(s.Project, s.Environ) {
		if job.Check != nil {
			look(job.ID(), job.Dir, job.Check.Command)
		}
	}
	for event, commands := range s.Project.Config.Hooks {
		for _, command := range commands {
			look(string(event), ".", command.Run)
		}
	}
	slices.SortFunc(missing, func(a, b MissingProgram) int {
		return slices.Compare([]string{a.Gate, a.Program}, []string{b.Gate, b.Program})
	})
	return missing
}

// found asks a shell whether it would find a program, which starts nothing.
func (s Survey) found(ctx context.Context, dir, program string) bool {
	result := process.Run(ctx, process.Command{
		Args: process.Shell(`command -v "$1" >/dev/null`, program), Dir: filepath.Join(s.Project.Root, dir), Env: s.Environ, Timeout: 10 * time.Second,
	})
	return result.OK()
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
		return fmt.Sprintf("its quota is used up; left alone until %s (%s)", r.CoolingUntil.Local().Format(time.DateTime), r.Path)
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
