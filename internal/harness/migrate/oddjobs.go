package migrate

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The runbooks of oddjobs are read where they are. What differs is what the check of runbooks says about them,
// which is too heavy for this program: stopgated does it.

// RunbookCheck is what stopgated says about the runbooks of a project.
type RunbookCheck struct {
	Faults   []document.Fault `json:"faults"`   // they keep a runbook from being used
	Warnings []document.Fault `json:"warnings"` // it is used, and something in it has no effect
}

// oddPlan is the plan for oddjobs while it is made.
type oddPlan struct {
	Plan
	draft *Draft
}

func planOddjobs(d *Draft) (*Plan, error) {
	if !disk.IsDir(d.InRoot(paths.OddjobsDir)) {
		return nil, nil
	}
	p := &oddPlan{draft: d}
	p.Find(paths.OddjobsDir + "/")
	for _, step := range []func() error{p.runbooks, p.projectName, p.libraries, p.state} {
		if err := d.note(step()); err != nil {
			return nil, err
		}
	}
	return &p.Plan, nil
}

// runbooks has the runbooks checked. Each is an item, and so is each thing in it that differs.
func (p *oddPlan) runbooks() error {
	files, err := p.runbookFiles()
	if err != nil || len(files) == 0 {
		return err
	}
	check, err := p.draft.CheckRunbooks(p.draft.Root)
	if err != nil { // other tools have nothing to do with it
		p.Add(Item{Where: paths.OddjobsDir + "/runbooks/", Setting: "runbooks", Fate: Left, Why: "they could not be checked: " + strings.ReplaceAll(err.Error(), "\n", "; ")})
		return nil
	}
	for _, file := range files {
		of := func(all []document.Fault) []document.Fault {
			return slices.DeleteFunc(slices.Clone(all), func(f document.Fault) bool { return filepath.ToSlash(f.File) != file })
		}
		p.runbook(file, of(check.Faults), of(check.Warnings))
	}
	p.Next = []string{
		"read and approve what the runbooks run: stopgate trust", "start a command with: stopgate start NAME, or through a link named oj: oj run NAME",
	}
	return nil
}

// runbook says what becomes of one of them.
func (p *oddPlan) runbook(file string, faults, warnings []document.Fault) {
	item := Item{Where: file + ":1", Setting: "runbook", Fate: Carried, To: "the same file, where it is"}
	if len(faults) > 0 {
		item.Fate, item.Why = Differs, "stopgate does not use it until you change "+plain.Count(len(faults), "place")+" in it, see below"
	}
	p.Add(item)
	for _, fault := range faults {
		p.Add(Item{Where: p.at(fault), Setting: fault.Message, Fate: Left, Why: fault.Hint})
	}
	for _, warning := range warnings {
		p.Add(Item{Where: p.at(warning), Setting: warning.Message, Fate: Differs, Why: warning.Hint})
	}
}

func (p *oddPlan) at(f document.Fault) string {
	return p.draft.At(p.draft.InRoot(f.File), max(f.Line, 1))
}

// runbookFiles are the project's runbooks of oddjobs, by their names below the root.
func (p *oddPlan) runbookFiles() (files []string, err error) {
	dir := paths.OddjobsRunbooks(p.draft.Root)
	if !disk.IsDir(dir) {
		return nil, nil
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		switch filepath.Ext(path) {
		case ".hcl", ".toml", ".json":
			files = append(files, p.draft.Shown(path))
		}
		return nil
	})
	if err != nil {
		return nil, document.Unreadable(p.draft.Shown(dir), err)
	}
	return files, nil
}

// projectName is about the name in the configuration of oddjobs.
func (p *oddPlan) projectName() error {
	path := p.draft.InRoot(paths.OddjobsDir, "config.toml")
	text, err := p.draft.Read(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if key, _, found := strings.Cut(line, "="); found && strings.TrimSpace(key) == "name" {
			p.Add(Item{Where: p.draft.At(path, number), Setting: "project.name", Fate: Left, Why: "stopgate calls a project by its directory"})
		}
	}
	return nil
}

// libraries are runbooks that others import. An import that does not work is told by the check.
func (p *oddPlan) libraries() error {
	dir := p.draft.InRoot(paths.OddjobsDir, "libraries")
	if disk.IsDir(dir) {
		p.Add(Item{
			Where: p.draft.Shown(dir) + "/", Setting: "libraries", Fate: Left,
			Why: "imports are relative to " + paths.OddjobsDir + "/runbooks: copy the files there and import them by their path",
		})
	}
	return nil
}

// state is about what the daemon of oddjobs keeps.
func (p *oddPlan) state() error {
	dir := oddState(p.draft.Getenv)
	if dir == "" || !disk.IsDir(dir) {
		return nil
	}
	if own := p.draft.Getenv("OJ_STATE_DIR"); own != "" && p.draft.Getenv("STOPGATE_STATE_DIR") == "" {
		p.Add(Item{Where: "environment", Setting: "OJ_STATE_DIR", Fate: Differs, To: "the state directory of stopgate", Why: "it must not be that of a running ojd as well: stop ojd, or set STOPGATE_STATE_DIR"})
	}
	if HoldsOddjobs(dir) {
		p.Add(Item{Where: p.draft.Shown(dir) + "/", Setting: "running pipelines, queues, decisions", Fate: Left, Why: "finish them with oddjobs; push what is left into a queue again with: stopgate work add"})
	}
	return p.variables(dir)
}

// HoldsOddjobs reports whether a directory has the state of an oddjobs daemon.
func HoldsOddjobs(dir string) bool {
	return disk.IsRegular(filepath.Join(dir, "snapshot.json")) || disk.IsDir(filepath.Join(dir, "wal"))
}

// oddState is the state directory of oddjobs.
func oddState(getenv func(name string) string) string {
	if dir := getenv("OJ_STATE_DIR"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "oj")
	}
	if home := paths.Home(getenv); home != "" {
		return filepath.Join(home, ".local", "state", "oj")
	}
	return ""
}

// variables are those that oj env has set. Their values may be secrets, so their names are shown alone.
func (p *oddPlan) variables(state string) error {
	for _, path := range glob(state, "env*") {
		if name := filepath.Base(path); name != "env" && !strings.HasPrefix(name, "env.") || disk.IsDir(path) {
			continue
		}
		text, err := p.draft.Read(path)
		if err != nil {
			return err
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if name, _, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(name, "#") {
				p.Add(Item{
					Where: p.draft.At(path, number), Setting: "variable " + plain.Name(name), Fate: Left,
					Why: "name the file in env_file of the pipeline, or the variable in pass_env",
				})
			}
		}
	}
	return nil
}
