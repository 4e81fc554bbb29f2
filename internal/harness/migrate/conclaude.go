package migrate

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// conclaudeFiles are where conclaude looks for its configuration; the first one counts.
var conclaudeFiles = []string{".conclaude.yaml", ".conclaude.yml"}

// RootBelow is the directory of the nearest configuration of conclaude in dir or above it, up to top; top
// where there is none. Conclaude looks for it in the same way.
func RootBelow(top, dir string) string {
	for ; dir != top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range conclaudeFiles {
			if disk.Exists(filepath.Join(dir, name)) {
				return dir
			}
		}
	}
	return top
}

// What a person does after the project's configuration has grown.
const (
	nextTrust = "look at the new commands, and approve them: stopgate trust --show, then stopgate trust"
	nextHooks = "have Claude Code call stopgate: stopgate hooks install"
	nextTeam  = "have Claude Code call stopgate, for the whole team as before: stopgate hooks install --project"
)

// nextInstall is how our hooks come to where those of the older tool were.
func (p *Plan) nextInstall(d *Draft) string {
	shared, err := settings.Path(settings.Project, d.Root)
	if err == nil && (slices.Contains(p.Found, d.Shown(shared)) || slices.Contains(d.Migrated, shared)) {
		return nextTeam
	}
	return nextHooks
}

// planConclaude carries a project's .conclaude.yaml over: stop commands become checks, commands for other
// events become hooks, and rules for tools become rules under deny.
func planConclaude(d *Draft) (*Plan, error) {
	m := &fromConclaude{draft: d, plan: &Plan{}, checks: map[int]*config.NewCheck{}, fixes: map[*config.NewCheck]fix{}}
	if err := d.note(m.readFiles()); err != nil {
		return nil, err
	}
	if err := m.plan.ReplaceHooks(d, conclaude); err != nil {
		return nil, err
	}
	if len(m.plan.Found) == 0 {
		return nil, nil
	}
	if !m.add.Empty() {
		m.plan.Next = append(m.plan.Next, nextTrust)
	}
	m.plan.Next = append(m.plan.Next, m.plan.nextInstall(d))
	return m.plan, m.write()
}

// conclaude is how its hooks are known.
var conclaude = tool{"conclaude", func(e settings.Entry) settings.Share { return e.ShareOf("conclaude", isConclaudeHook) }, "both tools run"}

// isConclaudeHook knows "conclaude EVENT" and, of newer versions, "conclaude Hooks EVENT", in any spelling.
func isConclaudeHook(arguments []string) bool {
	arguments = slices.DeleteFunc(slices.Clone(arguments), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(arguments) == 0 {
		return false
	}
	word := strings.NewReplacer("-", "", "_", "").Replace(arguments[0])
	return strings.EqualFold(word, "hooks") || slices.ContainsFunc(hook.Events(), func(event hook.Event) bool { return strings.EqualFold(word, string(event)) })
}

// fromConclaude is a migration from conclaude.
type fromConclaude struct {
	draft *Draft
	plan  *Plan
	add   config.Additions
	// checks are the new ones by the item that tells of them: their names are known only when they are
	// added. fixes are what the agent is told when they fail.
	checks map[int]*config.NewCheck
	fixes  map[*config.NewCheck]fix
	// carried are the items that tell of what is added to config.yml.
	carried []int
	// What the rules say about new files at the top and about generated ones.
	rootSet, generatedSet bool
	rootMessage           string
}

// fix is what the agent is told when a check fails, and the item that tells of it.
type fix struct {
	text string
	item int
}

func (m *fromConclaude) readFiles() error {
	for _, name := range conclaudeFiles {
		text, err := m.draft.Read(m.draft.InRoot(name))
		if err != nil {
			return err
		}
		if text == nil {
			continue
		}
		if len(m.plan.Found) > 0 {
			m.plan.Add(Item{Where: name, Setting: "the whole file", Fate: Left, Why: "conclaude does not read it beside " + m.plan.Found[0]})
			break
		}
		m.plan.Find(name)
		if err := config.ReadYAML(name, text, m.read); err != nil {
			return err
		}
	}
	return nil
}

// write adds all that was found to the project's configuration.
func (m *fromConclaude) write() error {
	d, dir := m.draft, m.draft.InRoot(paths.GauntletDir)
	for _, file := range config.GateFiles(dir, "") {
		m.add.Taken = append(m.add.Taken, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}

	file := filepath.Join(dir, paths.ConfigFile)
	var after []byte
	text, err := d.Read(file)
	if err == nil {
		after, err = config.Add(d.Shown(file), text, m.add)
	}

	for item, c := range m.checks {
		m.plan.Items[item].To = strings.ReplaceAll(m.plan.Items[item].To, checkName, c.Name)
	}
	if err != nil {
		m.leaveAll(d.Shown(file))
		return err
	}

	if after != nil {
		if err := d.Write(file, after); err != nil {
			return err
		}
	}
	for _, c := range m.add.Checks {
		if fix, ok := m.fixes[c]; ok {
			if err := m.instruct(filepath.Join(dir, filepath.FromSlash(c.Instructions())), fix); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaveAll says of each setting that would be added to a file that it is for the person to add.
func (m *fromConclaude) leaveAll(file string) {
	for _, i := range m.carried {
		item := &m.plan.Items[i]
		item.Fate, item.Why = Left, joined("stopgate cannot add it to "+file+" as that is: add it yourself, then migrate", item.Why)
	}
}

// instruct makes a file of instructions for a fix. One that is there may be a person's own, and stays.
func (m *fromConclaude) instruct(file string, fix fix) error {
	text := []byte(fix.text + "\n")
	there, err := m.draft.Read(file)
	switch {
	case err != nil:
		return err
	case there == nil:
		return m.draft.Write(file, text)
	case !bytes.Equal(there, text):
		item := &m.plan.Items[fix.item]
		item.Fate, item.Why = Differs, m.draft.Shown(file)+" exists already with another text, and stays as it is"
	}
	return nil
}

// checkName stands for the name of a check in an item.
const checkName = "\x00name"

// read reads the top of the file.
func (m *fromConclaude) read(v document.Value) {
	sections, _ := v.Entries()
	at := v // where defaults are told: at preToolUse, else at the top
	for _, s := range sections {
		switch s.Name {
		case "stop":
			m.stop(s)
		case "preToolUse", "rules":
			m.rules(s)
			at = s
		case "permissionRequest":
			m.left(s, s.Name, "stopgate gives no permissions: write it under permissions in Claude Code's settings")
		case "notifications":
			m.left(s, s.Name, "stopgate tells you only what needs you: set notify.desktop in ~/.config/agent-gauntlet/config.yml, see docs/reference/configuration.md")
		default:
			m.event(s)
		}
	}
	m.defaults(at)
}

// event reads a section that has commands for an event other than Stop.
func (m *fromConclaude) event(s document.Value) {
	event := hook.Event(strings.ToUpper(s.Name[:min(1, len(s.Name))]) + s.Name[min(1, len(s.Name)):])
	if !event.Known() {
		m.left(s, s.Name, "stopgate knows no such key and no such event")
		return
	}
	keys, _ := s.Entries()
	for _, k := range keys {
		switch {
		case k.Name != "commands":
			m.left(k, s.Name+"."+k.Name, "stopgate has no equal; see hooks in docs/reference/configuration.md")
		case k.Node.Kind() == document.Mapping:
			patterns, _ := k.Entries()
			for _, p := range patterns {
				m.hooks(p, event, fmt.Sprintf("%s.commands[%q]", s.Name, p.Name), p.Name)
			}
		default:
			m.hooks(k, event, s.Name+".commands", "*")
		}
	}
}

// where is the place of a value for people.
func where(v document.Value) string {
	at := v.Position()
	return fmt.Sprintf("%s:%d", at.File, max(at.Line, 1))
}

func (m *fromConclaude) left(v document.Value, setting, why string) {
	m.plan.Add(Item{Where: where(v), Setting: setting, Fate: Left, Why: why})
}

// into is an item that is carried over to config.yml.
func (m *fromConclaude) into(v document.Value, setting, to, differs string) {
	item := Item{Where: where(v), Setting: setting, Fate: Carried, To: to + " in " + path.Join(paths.GauntletDir, paths.ConfigFile), Why: differs}
	if differs != "" {
		item.Fate = Differs
	}
	m.carried = append(m.carried, len(m.plan.Items))
	m.plan.Add(item)
}
