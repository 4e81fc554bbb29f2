package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// commands lists what the commands of checks, and the project's own for an event, start that
// is not there, and what cannot be told. A check that has ended by itself in this repository
// is sure: should it not be found any more, it has failed.
func (s Survey) commands(ctx context.Context) (missing []MissingProgram, unsure []UnsureCommand) {
	missing, unsure = []MissingProgram{}, []UnsureCommand{}
	history := ledger.OpenHistory(s.StateDir, s.Project.Root).Read()
	f := finder{root: s.Project.Root, environ: s.gates(), own: s.Environ, known: map[[2]string]bool{}}
	if len(s.Project.Edited) > 0 {
		f.approved = s.Project.ConfigDir
	}

	look := func(c command, needs []need.Need) {
		ran := false
		if c.job != nil {
			_, ran = c.job.Ran(history, s.Project.Root)
		}
		for _, n := range needs {
			text := plain.Line(n.Text)
			if n.Maybe && ran || n.Kind == need.Task && c.job == nil || f.steered(c.line, n.Lookup) || f.has(ctx, c.dir, n) {
				continue // only a run tells whether there is a task, and only gates have a history
			}
			if m := (MissingProgram{plain.Line(c.gate), text, n.Branch}); !n.Maybe && !slices.Contains(missing, m) {
				missing = append(missing, m)
			}
			if u := (UnsureCommand{plain.Line(c.gate), plain.Line(c.check), text}); n.Maybe && !slices.Contains(unsure, u) {
				unsure = append(unsure, u)
			}
		}
	}

	if runner := s.Project.Config.Gauntlet.StopHook.Runner; len(runner) > 0 && !f.has(ctx, ".", need.Need{Kind: need.Program, Text: runner[0], Shell: "sh"}) {
		missing = append(missing, MissingProgram{Gate: "stop_hook.runner", Program: plain.Line(runner[0])})
	}

	lines := s.lines()
	needs, err := s.needs(ctx, lines)
	for i, c := range lines {
		if err != nil {
			unsure = append(unsure, UnsureCommand{plain.Line(c.gate), plain.Line(c.check), plain.Line(c.line + " (not read: " + err.Error() + ")")})
			continue
		}
		look(c, needs[i])
	}

	slices.SortFunc(missing, func(a, b MissingProgram) int {
		return slices.Compare([]string{a.Gate, a.Program}, []string{b.Gate, b.Program})
	})
	slices.SortFunc(unsure, func(a, b UnsureCommand) int {
		return slices.Compare([]string{a.Gate, a.Command}, []string{b.Gate, b.Command})
	})
	return missing, unsure
}

// gates is the environment of gates.
func (s Survey) gates() []string {
	if s.Gates == nil {
		return s.Environ
	}
	return s.Gates
}

// command is a line that a gate runs.
type command struct {
	gate, check, dir, line string
	job                    *gauntlet.Job // nil for the project's own for an event
}

// lines are the commands of checks, and the project's own for an event.
func (s Survey) lines() (all []command) {
	for _, job := range gauntlet.Jobs(s.Project, s.gates()) {
		if job.Check != nil {
			all = append(all, command{job.ID(), job.Check.Name, job.Dir, job.Check.Command, job})
		}
	}
	for event, commands := range s.Project.Config.Hooks {
		for _, c := range commands {
			all = append(all, command{string(event), "", ".", c.Run, nil})
		}
	}
	return all
}

// needs are what each of the commands needs.
func (s Survey) needs(ctx context.Context, commands []command) ([][]need.Need, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	question := need.Question{Home: environ.Get(s.gates(), "HOME")}
	for _, c := range commands {
		question.Lines = append(question.Lines, c.line)
	}
	needs, err := s.Needs(ctx, question)
	if err == nil && len(needs) != len(commands) {
		err = fmt.Errorf("%d answers about %d commands", len(needs), len(commands))
	}
	return needs, err
}

// finder looks for what commands need, and starts none of it.
type finder struct {
	root     string
	approved string             // what runs in place of .gauntlet; empty where that is as approved
	environ  []string           // of gates
	own      []string           // what the shells that are asked get, with the PATH of gates
	known    map[[2]string]bool // by shell and name
}

// has reports whether something is there for a command that runs in a directory of the project.
func (f finder) has(ctx context.Context, dir string, n need.Need) bool {
	from := filepath.Join(f.root, filepath.FromSlash(dir), filepath.FromSlash(n.Dir))
	if filepath.IsAbs(n.Dir) {
		from = n.Dir
	}
	file := filepath.Join(from, filepath.FromSlash(n.Text))
	if filepath.IsAbs(n.Text) {
		file = n.Text
	}

	switch approved := f.inForce(file); {
	case n.Kind == need.Riddle:
		return false
	case n.Kind == need.Manifest:
		return f.hasManifest(from, n)
	case n.Kind == need.Task:
		return f.hasTask(from, n)
	case n.Kind == need.Tool:
		return f.tool(from, n.Text)
	case approved != file:
		return exists(approved)
	case n.Kind == need.File:
		return exists(file) || exists(file+".js") // node adds that
	case strings.Contains(n.Text, "/"):
		_, err := exec.LookPath(file)
		return err == nil
	}

	// In a shell that is missing itself nothing else is worth a word.
	return n.Shell != "sh" && !f.named(ctx, "sh", n.Shell) || f.named(ctx, n.Shell, n.Text)
}

// inForce is the file that a command finds under a name: in .gauntlet the approved one.
func (f finder) inForce(file string) string {
	below, inside := strings.CutPrefix(file, filepath.Join(f.root, paths.GauntletDir)+string(filepath.Separator))
	if f.approved != "" && inside {
		return filepath.Join(f.approved, below)
	}
	return file
}

// named asks a shell whether it would find a program.
func (f finder) named(ctx context.Context, shell, program string) bool {
	key := [2]string{shell, program}
	found, asked := f.known[key]
	if !asked {
		args := process.Shell(`command -v -- "$1" >/dev/null`, program)
		args[0] = shell
		found = process.Run(ctx, process.Command{Args: args, Dir: f.root, Env: append(slices.Clone(f.own), "PATH="+environ.Get(f.environ, "PATH")), Timeout: 10 * time.Second}).OK()
		f.known[key] = found
	}
	return found
}

// tool reports whether the project's packages have a program, from a directory upwards.
func (f finder) tool(dir, name string) bool {
	for {
		for _, bin := range []string{"node_modules/.bin", ".venv/bin"} {
			if _, err := exec.LookPath(filepath.Join(dir, filepath.FromSlash(bin), name)); err == nil {
				return true
			}
		}
		if parent := filepath.Dir(dir); dir != f.root && parent != dir {
			dir = parent
			continue
		}
		return false
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
