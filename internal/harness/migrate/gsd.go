package migrate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// gsd-code-skill is a directory of scripts by which agents of OpenClaw look after Claude Code in tmux. Its
// registry becomes ours; its hooks in Claude Code's settings are replaced by ours.

// gsdPlan is the plan for gsd while it is made.
type gsdPlan struct {
	Plan
	draft  *Draft
	skills []string // the directories of the skill
	target string   // our registry
}

// gsdMarks are files that show the skill, which has at least one of them: its registry of today and of before, and what its
// agents call.
var gsdMarks = []string{
	filepath.Join("config", "agent-registry.json"), filepath.Join("config", olderRegistry), filepath.Join("bin", "tui-driver.mjs"),
}

// olderRegistry is the registry up to version 3.
const olderRegistry = "recovery-registry.json"

func planGSD(d *Draft) (*Plan, error) {
	global, err := paths.GlobalConfig()
	if err != nil {
		return nil, nil // without a home there are neither agents nor hooks
	}
	p := &gsdPlan{draft: d, target: registry.Path(filepath.Dir(global))}
	if err := p.findSkills(); err != nil || len(p.skills) == 0 {
		return nil, err
	}
	for _, skill := range p.skills {
		p.Find(d.Shown(skill) + "/")
		if err := d.note(p.registries(skill)); err != nil {
			return nil, err
		}
		p.remains(skill)
	}
	skill := tool{"gsd-code-skill", p.share, "both wake the agents"} // other plugins are called gsd, too
	if err := p.RemoveHooks(d, skill, settings.User, settings.Project, settings.Local); err != nil {
		return nil, err
	}
	p.KeepPlugins(d, skill)
	p.Next = []string{"install the hooks that wake agents: stopgate hooks install --user", "check the registry: stopgate registry check"}
	return &p.Plan, nil
}

// findSkills looks for the skill where OpenClaw keeps skills, in this project, and by the hooks that call it.
func (p *gsdPlan) findSkills() error {
	home := p.draft.Home()
	dirs := []string{p.draft.Root}
	for _, pattern := range []string{".openclaw/skills/*", ".openclaw/workspace*/skills/*"} {
		dirs = append(dirs, glob(home, pattern)...)
	}
	for _, dir := range dirs {
		p.skill(dir)
	}

	for _, scope := range []settings.Scope{settings.User, settings.Project, settings.Local} {
		path, err := settings.Path(scope, p.draft.Root)
		if err != nil {
			return err
		}
		text, err := p.draft.Read(path)
		if err != nil || text == nil {
			continue // what is wrong with it is told when its hooks are looked for
		}
		_, _, _ = settings.Without(path, text, func(e settings.Entry) bool {
			for _, path := range pathsOf(e, home) {
				p.skillAbove(path)
			}
			return false
		})
	}
	return nil
}

// skill notes a directory that is one of the skill. The home and what is above it never are: all hooks of
// the person would be taken for the skill's.
func (p *gsdPlan) skill(dir string) bool {
	is := disk.IsRegular(filepath.Join(dir, "SKILL.md")) && !holds(dir, p.draft.Home()) &&
		slices.ContainsFunc(gsdMarks, func(mark string) bool { return disk.IsRegular(filepath.Join(dir, mark)) })
	if is && !slices.Contains(p.skills, dir) {
		p.skills = append(p.skills, dir)
	}
	return is
}

// holds reports whether a directory is another one or above it, however they are reached.
func holds(dir, other string) bool {
	rel, err := filepath.Rel(paths.Canonical(dir), paths.Canonical(other))
	return err == nil && filepath.IsLocal(rel)
}

// skillAbove looks for the skill that a script belongs to. They lie at most three directories deep.
func (p *gsdPlan) skillAbove(script string) {
	dir := filepath.Dir(script)
	for range 4 {
		if p.skill(dir) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// share says how much of a hook calls scripts of the skill.
func (p *gsdPlan) share(e settings.Entry) settings.Share {
	home := p.draft.Home()
	share := e.Judge(func(words []string) bool { return p.inSkill(pathsIn(words, home)) })
	if share == settings.NotTheirs && p.inSkill(pathsOf(e, home)) {
		return settings.PartTheirs
	}
	return share
}

// inSkill reports whether one of the paths is in the skill.
func (p *gsdPlan) inSkill(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return slices.ContainsFunc(p.skills, func(skill string) bool {
			rel, err := filepath.Rel(skill, path)
			return err == nil && filepath.IsLocal(rel)
		})
	})
}

// pathsOf are the absolute paths in what a hook calls, also quoted ones and those that begin at the home.
func pathsOf(e settings.Entry, home string) []string {
	quoted := strings.FieldsFunc(e.Command, func(r rune) bool { return r == '"' || r == '\'' })
	return pathsIn(slices.Concat(quoted, strings.Fields(e.Command), e.Args), home)
}

// pathsIn are the words that are absolute paths.
func pathsIn(words []string, home string) (found []string) {
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		for _, sign := range []string{"~/", "$HOME/", "${HOME}/"} {
			if rest, ok := strings.CutPrefix(word, sign); ok {
				word = filepath.Join(home, rest)
			}
		}
		if filepath.IsAbs(word) {
			found = append(found, filepath.Clean(word))
		}
	}
	return found
}

// registries carries over the agents of the skill. Of two registries the newer one counts.
func (p *gsdPlan) registries(skill string) error {
	carried := false
	for _, mark := range gsdMarks[:2] {
		path := filepath.Join(skill, mark)
		text, err := p.draft.Read(path)
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		if carried {
			p.Add(Item{Where: p.draft.At(path, 1), Setting: filepath.Base(path), Fate: Left, Why: "agent-registry.json took its place"})
			continue
		}
		carried = true
		if err := p.registry(path, text); err != nil {
			return err
		}
	}
	return nil
}

// remains names what stays in the skill: what its agents call, prompts, and queues that are not done.
func (p *gsdPlan) remains(skill string) {
	if driver := filepath.Join(skill, gsdMarks[2]); disk.IsRegular(driver) {
		p.Add(Item{Where: p.draft.At(driver, 1), Setting: filepath.Base(driver), Fate: Carried, To: "stopgate queue create, or a link named tui-driver to stopgate"})
	}
	for _, pattern := range []string{"events/*/prompt_*.md", "events/*/*/prompt_*.md"} {
		for _, path := range glob(skill, pattern) {
			p.Add(Item{
				Where: p.draft.At(path, 1), Setting: filepath.Base(path), Fate: Left,
				Why: "stopgate's own prompts name its own commands; to change one, put it into " + p.draft.Shown(filepath.Join(filepath.Dir(p.target), "prompts")),
			})
		}
	}
	for _, path := range glob(skill, "logs/queues/queue-*.json") {
		doc, err := jsonfile.Read(path)
		if strings.HasSuffix(path, ".stale.json") || err != nil || !unfinished(doc) {
			continue
		}
		p.Add(Item{
			Where: p.draft.At(path, 1), Setting: filepath.Base(path), Fate: Left,
			Why: "its commands are not done; queue the rest again with: stopgate queue create",
		})
	}
}

// unfinished reports whether a queue has a command that waits.
func unfinished(doc *jsonfile.Document) bool {
	commands, _ := jsonfile.ArrayOf(jsonfile.At(doc.Root(), "commands"))
	for _, command := range jsonfile.Objects(commands) {
		switch jsonfile.StringOf(jsonfile.Member(command, "status")) {
		case "pending", "active":
			return true
		}
	}
	return false
}
