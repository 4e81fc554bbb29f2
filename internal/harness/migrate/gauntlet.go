package migrate

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// planGauntlet carries agent-gauntlet over. Its configuration is ours; what is left are keys that it
// ignores and we refuse, and its hook, which would run every gate a second time.
func planGauntlet(d *Draft) (*Plan, error) {
	m := &fromGauntlet{Draft: d, plan: &Plan{}}
	if err := m.hooks(); err != nil {
		return nil, err
	}
	m.instructions()
	if err := d.note(m.files()); err != nil {
		return nil, err
	}
	if len(m.plan.Found) == 0 {
		return nil, nil
	}
	m.defaults()
	m.plan.Next = []string{nextTrust}
	if !settings.Unified("", d.Root) {
		m.plan.Next = append(m.plan.Next, m.plan.nextInstall(d))
	}
	return m.plan, nil
}

// gauntlet is how the hooks of agent-gauntlet are known, whichever program has the name.
var gauntlet = tool{"agent-gauntlet", func(e settings.Entry) settings.Share { return e.ShareOf("agent-gauntlet", isGauntletHook) }, "both run the gates"}

// isGauntletHook knows what agent-gauntlet installs for Stop and for SessionStart, and hooks that run its gates.
func isGauntletHook(arguments []string) bool {
	return len(arguments) > 0 && slices.Contains([]string{"stop-hook", startHook, "run", "check", "review"}, arguments[0])
}

// startHook tells the agent at the start of a session to run the gates.
const startHook = "start-hook"

// fromGauntlet is a migration from agent-gauntlet.
type fromGauntlet struct {
	*Draft
	plan *Plan
}

func (m *fromGauntlet) hooks() error {
	err := m.plan.ReplaceHooks(m.Draft, gauntlet)
	for i := range m.plan.Items {
		if item := &m.plan.Items[i]; item.Fate == Carried {
			m.removed(item)
		}
	}
	return err
}

// removed says what differs without a hook that is removed.
func (m *fromGauntlet) removed(item *Item) {
	item.Fate = Differs
	if strings.Contains(item.Setting, startHook) {
		item.To, item.Why = "", "it is removed: it tells the agent to run the gates, and stopgate runs them at every stop"
		return
	}
	item.Why = "stopgate blocks until the gates pass or max_retries is reached; agent-gauntlet blocked once and allowed the next stop"
	if settings.Unified("", m.Root) {
		item.To = "stopgate's own hook, which is installed already; this one is removed: both would run the gates"
	}
}

// files looks for keys that stopgate refuses.
func (m *fromGauntlet) files() error {
	dir := m.InRoot(paths.GauntletDir)
	all := []config.OlderFile{
		config.NewOlderFile("project", filepath.Join(dir, paths.ConfigFile), path.Join(paths.GauntletDir, paths.ConfigFile)),
		config.NewOlderFile("ci", filepath.Join(dir, config.CIFile), path.Join(paths.GauntletDir, config.CIFile)),
	}
	all = append(all, config.OlderFiles(dir, paths.GauntletDir)...)
	if global, err := paths.GlobalConfig(); err == nil {
		all = append(all, config.NewOlderFile("global", global, m.Shown(global)))
	}
	var faults document.All
	for _, file := range all {
		wrong, err := m.file(file)
		if err := m.note(err); err != nil {
			return err
		}
		faults = append(faults, wrong...)
	}
	if len(faults) > 0 && len(m.plan.Found) > 0 { // else stopgate validate tells of them
		return &document.Faults{All: faults}
	}
	return nil
}

// file makes comments of the keys of a file that agent-gauntlet ignores, and gives the faults that remain.
func (m *fromGauntlet) file(file config.OlderFile) (document.All, error) {
	text, err := m.Read(file.Path)
	if err != nil || text == nil {
		return nil, err
	}

	shown := filepath.ToSlash(file.Shown)
	ignored, others := file.Ignored(text)
	for _, fault := range ignored {
		item := Item{Where: fmt.Sprintf("%s:%d", shown, fault.Line), Setting: fault.Message, Fate: Left, Why: whyRefused(fault)}
		after, ok := file.CommentOut(text, fault)
		switch {
		case strings.HasPrefix(fault.Hint, "did you mean"): // a misspelt gate must not become a comment
			item.Why += ": " + fault.Hint + " Correct it yourself"
		case !ok:
			m.plan.Find(shown)
			item.Why += ": it shares a line with others, so remove it yourself"
		default:
			m.plan.Find(shown)
			item.To, text = "a comment", after
		}
		m.plan.Add(item)
	}

	if len(others) == 0 {
		m.carried(file, shown, text)
	}
	return others, m.Write(file.Path, text)
}

// carried says of each setting that both tools have that it stays what it is.
func (m *fromGauntlet) carried(file config.OlderFile, shown string, text []byte) {
	if kind := file.Kind(); kind == "check" || kind == "review" {
		if wrong, _ := file.Ignored(text); len(wrong) > 0 { // it is not used before the person has corrected it
			return
		}
		m.plan.Add(Item{Where: shown + ":1", Setting: kind + " " + plain.Name(file.Gate()), Fate: Carried, To: "the same file, where it is"})
		return
	}
	_ = config.ReadYAML(shown, text, func(v document.Value) { // what is wrong with it was said
		keys, _ := v.Entries()
		for _, k := range keys {
			if slices.Contains(gauntletKeys(file.Kind()), k.Name) {
				m.key(k)
			}
		}
	})
}

// gauntletKeys are what agent-gauntlet has in a kind of file. Others are stopgate's own, or were told of.
func gauntletKeys(kind string) []string {
	return map[string][]string{
		"project": {"base_branch", "log_dir", "max_retries", "max_previous_logs", "rerun_new_issue_threshold", "allow_parallel", "cli", "stop_hook", "debug_log", "entry_points"},
		"ci":      {"runtimes", "services", "setup", "checks"},
		"global":  {"stop_hook", "debug_log"},
	}[kind]
}

// key is about a key that stays; of entry points each is told.
func (m *fromGauntlet) key(k document.Value) {
	if k.Name != "entry_points" {
		m.plan.Add(Item{Where: where(k), Setting: k.Name, Fate: Carried, To: "the same"})
		return
	}
	points, _ := k.List("")
	for i, point := range points {
		setting := fmt.Sprintf("entry_points[%d]", i)
		keys, _ := point.Entries()
		for _, k := range keys {
			if k.Name == "path" {
				setting += ": " + plain.Line(k.Node.Text())
			}
		}
		m.plan.Add(Item{Where: where(point), Setting: setting, Fate: Carried, To: "the same"})
	}
}

// insteadOf is what there is instead of a key that agent-gauntlet had in earlier versions; "" for all others.
func insteadOf(key string) string {
	return map[string]string{
		"fail_fast":         "stopgate has it for checks with parallel: false",
		"parallel":          "stopgate has it for checks and reviews",
		"pass_pattern":      "a review passes by the findings in its answer",
		"include_context":   "a reviewer reads the files that it needs by itself",
		"include_full_repo": "a reviewer reads the files that it needs by itself",
	}[key]
}

// whyRefused is why a key cannot stay.
func whyRefused(fault document.Fault) string {
	name := strings.Trim(strings.TrimPrefix(fault.Message, "unknown key "), `"`)
	if instead := insteadOf(name); instead != "" {
		return "earlier versions of agent-gauntlet had this key, and stopgate refuses it here: " + instead
	}
	return "agent-gauntlet ignores this key, and stopgate refuses it"
}

// instructions finds what agent-gauntlet gave the agent to read.
func (m *fromGauntlet) instructions() {
	for _, name := range []string{path.Join(paths.GauntletDir, "run_gauntlet.md"), ".claude/commands/gauntlet.md", ".gemini/commands/gauntlet.toml"} {
		if disk.Exists(m.InRoot(filepath.FromSlash(name))) {
			m.plan.Find(name)
			m.plan.Add(Item{Where: name, Setting: "instructions for the agent", Fate: Left, Why: "stopgate runs the gates at every stop and tells the agent what failed; remove them, or have them say stopgate run"})
		}
	}
}

// defaults tells of settings that the project does not have and whose default is another one.
func (m *fromGauntlet) defaults() {
	name := path.Join(paths.GauntletDir, paths.ConfigFile)
	text, err := m.Read(m.InRoot(paths.GauntletDir, paths.ConfigFile))
	if err != nil || text == nil {
		return
	}

	interval, base := false, false
	_ = config.ReadYAML(name, text, func(v document.Value) { // what is wrong with it was said
		keys, _ := v.Entries()
		for _, k := range keys {
			switch k.Name {
			case "base_branch":
				base = true
			case "stop_hook":
				inner, _ := k.Entries()
				for _, k := range inner {
					interval = interval || k.Name == "run_interval_minutes"
				}
			case "logging":
				m.plan.Add(Item{Where: where(k), Setting: k.Name, Fate: Carried, To: "logging, which has no effect in either tool"})
			}
		}
	})

	if !interval {
		m.plan.Add(Item{Where: name + ":1", Setting: "stop_hook.run_interval_minutes (default: 10)", Fate: Differs, To: "0", Why: "gates run at every stop after which files have changed; set it to keep the pause"})
	}
	if !base {
		m.plan.Add(Item{Where: name + ":1", Setting: "base_branch (default: origin/main)", Fate: Differs, To: "the remote's default branch", Why: "origin/main counts where the remote does not name one"})
	}
}
