package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ccc is a launcher whose ccc.json stopgate claude reads where it is, so most of it is carried over by
// doing nothing. What is to be changed is what ccc has put elsewhere.

// cccPlan is the plan for ccc while it is made.
type cccPlan struct {
	Plan
	draft  *Draft
	dir    string             // of ccc.json and of Claude Code's settings
	path   string             // of ccc.json
	doc    *jsonfile.Document // nil: there is none
	config *launch.Config     // nil: there is none, or it has faults
	faults []string           // what is wrong with ccc.json; each begins with the path of a key
}

func planCCC(d *Draft) (*Plan, error) {
	dir, err := paths.LauncherDir(d.Getenv)
	if err != nil {
		return nil, nil // without a home there is nothing of ccc
	}
	p := &cccPlan{draft: d, dir: dir, path: filepath.Join(dir, launch.ConfigFile)}
	for _, step := range []func() error{p.readConfig, p.supervisorHook, p.shadows, p.files, p.patch} {
		if err := d.note(step()); err != nil {
			return nil, err
		}
	}
	if len(p.Found) == 0 {
		return nil, nil
	}
	p.Next = append(p.Next, "start Claude Code with: stopgate claude")
	return &p.Plan, nil
}

// readConfig looks at ccc.json. One that is not JSON is a fault; what only stopgate refuses in it is an item.
func (p *cccPlan) readConfig() error {
	text, err := p.draft.Read(p.path)
	if err != nil || text == nil {
		return err
	}
	p.Find(p.draft.Shown(p.path))
	p.doc, err = jsonfile.Parse(p.draft.Shown(p.path), text)
	if err == nil {
		err = p.doc.NeedObject()
	}
	if err != nil {
		return settingsFault(err)
	}

	p.config, err = launch.Load(p.path)
	if faults, ok := errors.AsType[*document.Faults](err); ok {
		for _, fault := range faults.All {
			p.faults = append(p.faults, fault.Message)
			key, why, _ := strings.Cut(fault.Message, " ")
			p.Add(Item{Where: p.draft.At(p.path, fault.Line), Setting: key, Fate: Left, Why: "stopgate does not start with it: it " + why})
		}
	} else if err != nil {
		return err
	}
	root, _ := p.doc.Object()
	for name, v := range jsonfile.Members(root) {
		p.key(name, v)
	}
	if p.config != nil {
		p.keysInFile()
	}
	return p.moveSupervisor(root)
}

// add adds an item about a value of ccc.json, unless something is wrong with that: then there is one.
func (p *cccPlan) add(v *hujson.Value, item Item) {
	wrong := func(fault string) bool {
		return strings.HasPrefix(fault, item.Setting+".") || strings.HasPrefix(fault, item.Setting+" ")
	}
	if slices.ContainsFunc(p.faults, wrong) {
		return
	}
	item.Where = p.draft.At(p.path, p.doc.LineOf(v))
	p.Add(item)
}

// key says what becomes of a key of ccc.json.
func (p *cccPlan) key(name string, v *hujson.Value) {
	switch name {
	case "providers":
		providers, _ := jsonfile.ObjectOf(v)
		for provider, v := range jsonfile.Members(providers) {
			p.provider(provider, v)
		}
	case "settings", "claude_args":
		p.add(v, Item{Setting: name, Fate: Carried, To: "the same, of stopgate claude"})
	case "current_provider":
		p.current(v)
	case "supervisor":
		p.supervisor(v)
	default:
		p.add(v, Item{Setting: plain.Name(name), Fate: Left, Why: "stopgate does not know it; it stays in the file"})
	}
}

// provider says what becomes of one, and of variables that it needs and that are not set.
func (p *cccPlan) provider(name string, v *hujson.Value) {
	setting := "providers." + launch.Shown(name)
	p.add(v, Item{Setting: setting, Fate: Carried, To: "stopgate claude " + launch.Shown(name)})
	fields, _ := jsonfile.ObjectOf(v)
	for key, v := range jsonfile.Members(fields) {
		if key != "env" {
			p.add(v, Item{Setting: setting + "." + plain.Name(key), Fate: Carried, To: "the same: Claude Code gets it as a setting, whether or not it knows it"})
		}
	}
	if p.config == nil {
		return
	}
	for _, variable := range p.config.Unset(name, p.draft.Getenv) {
		p.add(v, Item{
			Setting: setting + ".env: $" + variable, Fate: Differs, To: "the same",
			Why: variable + " is not set here: ccc passed an empty value, stopgate does not start the provider",
		})
	}
}

func (p *cccPlan) current(v *hujson.Value) {
	item := Item{Setting: "current_provider", Fate: Carried, To: "the provider of stopgate claude without a name"}
	if p.config != nil {
		if _, err := p.config.Choose(""); err != nil {
			item.Fate, item.Why = Differs, "there is no such provider: ccc took another one, stopgate wants a name"
		}
	}
	p.add(v, item)
}

// supervisor says what becomes of the limits of reviews.
func (p *cccPlan) supervisor(v *hujson.Value) {
	block, _ := jsonfile.ObjectOf(v)
	for name, value := range jsonfile.Members(block) {
		item := Item{Setting: "supervisor." + plain.Name(name)}
		switch name {
		case "max_iterations", "timeout_seconds":
			item.Fate, item.To = Carried, "the same"
		case "enabled":
			item.Fate, item.Why = Left, "sessions are reviewed that are started with CCC_SUPERVISOR=1 stopgate claude, or after: stopgate supervisor on"
		default:
			item.Fate, item.Why = Left, "stopgate does not know it; it stays in the file"
		}
		p.add(value, item)
	}
	if jsonfile.Member(block, "max_iterations") == nil {
		p.add(v, Item{Setting: "supervisor.max_iterations", Fate: Differs, To: "the default", Why: "without a value it was 20 in ccc and is 10 in stopgate"})
	}
}

// moveSupervisor moves the limits to where they count. An early ccc had them in settings, from where they
// went into Claude Code's settings.
func (p *cccPlan) moveSupervisor(root *hujson.Object) error {
	inner, _ := jsonfile.ObjectOf(jsonfile.Member(root, "settings"))
	old := jsonfile.Member(inner, "supervisor")
	limits, isObject := jsonfile.ObjectOf(old)
	if old == nil || !isObject {
		return nil
	}
	if jsonfile.Member(root, "supervisor") != nil {
		p.add(old, Item{Setting: "settings.supervisor", Fate: Left, Why: "supervisor at the top of the file is what counts"})
		return nil
	}
	p.add(old, Item{Setting: "settings.supervisor", Fate: Carried, To: "supervisor at the top of " + launch.ConfigFile})

	moved := map[string]json.RawMessage{}
	for name, v := range jsonfile.Members(limits) {
		if number := numberIn(v); name != "enabled" && number != "" {
			moved[name] = json.RawMessage(number)
		}
	}
	jsonfile.CutMember(inner, "supervisor")
	if len(moved) > 0 {
		p.doc.Set("supervisor", moved)
	}
	return p.draft.Write(p.path, p.doc.Text())
}

// keysInFile notes that others can read the keys that are written into ccc.json.
func (p *cccPlan) keysInFile() {
	info, err := os.Stat(p.path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return
	}
	for _, provider := range p.config.Names() {
		for _, name := range p.config.VariableNames(provider) {
			value, err := p.config.Variable(provider, name, nil) // what refers to a variable is not set there
			if secret := strings.HasSuffix(name, "_TOKEN") || strings.HasSuffix(name, "_KEY"); secret && err == nil && value != "" {
				p.Next = append(p.Next, "others can read the keys in "+p.draft.Shown(p.path)+": chmod 600 "+p.draft.Shown(p.path))
				return
			}
		}
	}
}

// supervisorHook takes the entry of ccc out of Claude Code's settings, unless it leads to us: a supervised launch
// puts its own there, for as long as it needs it.
func (p *cccPlan) supervisorHook() error {
	before := len(p.Items)
	ccc := tool{"ccc", func(e settings.Entry) settings.Share {
		if e.Living() {
			return settings.NotTheirs
		}
		return e.ShareOf("ccc", func(arguments []string) bool { return len(arguments) > 0 && arguments[0] == settings.SupervisorHook })
	}, "two supervisors review each stop"}
	err := p.RemoveHooks(p.draft, ccc, settings.User, settings.Project, settings.Local)
	for i := range p.Items[before:] {
		if item := &p.Items[before+i]; item.Fate == Carried {
			item.To = "the hook that CCC_SUPERVISOR=1 stopgate claude adds; this one is removed"
		}
	}
	p.KeepPlugins(p.draft, ccc)
	return err
}

// shadows names the variables in Claude Code's settings that keep a provider from starting.
func (p *cccPlan) shadows() error {
	path := filepath.Join(p.dir, "settings.json")
	text, err := p.draft.Read(path)
	if err != nil || text == nil || p.config == nil {
		return err
	}
	doc, err := jsonfile.Parse(p.draft.Shown(path), text)
	if err != nil {
		return settingsFault(err)
	}
	var provided []string
	for _, name := range p.config.Names() {
		provided = append(provided, p.config.VariableNames(name)...)
	}
	env, _ := jsonfile.ObjectOf(jsonfile.At(doc.Root(), "env"))
	for name, v := range jsonfile.Members(env) {
		if slices.Contains(provided, name) {
			p.Add(Item{
				Where: p.draft.At(path, doc.LineOf(v)), Setting: "env." + plain.Name(name), Fate: Left,
				Why: "Claude Code puts it before what a provider sets, so stopgate does not start that provider: remove it, or move it to the provider's env",
			})
		}
	}
	return nil
}

// files looks at what else ccc reads or has written.
func (p *cccPlan) files() error {
	for _, name := range []string{"supervisor", "supervisoroff"} {
		path := filepath.Join(p.dir, "commands", name+".md")
		text, err := p.draft.Read(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(text), " supervisor-mode ") {
			p.Find(p.draft.Shown(path))
			p.Add(Item{
				Where: p.draft.At(path, 1), Setting: "slash command /" + name, Fate: Differs, To: "the same, if the ccc that it calls is a link to stopgate",
				Why: "otherwise remove the file and run: stopgate hooks install --slash-commands",
			})
		}
	}
	if path := filepath.Join(p.dir, "SUPERVISOR.md"); p.doc != nil && p.has(path) {
		p.Add(Item{Where: p.draft.At(path, 1), Setting: "SUPERVISOR.md", Fate: Carried, To: "the instructions of stopgate's reviewer"})
	}
	for _, path := range glob(p.dir, "settings-*.json") {
		if p.doc != nil {
			p.Add(Item{Where: p.draft.At(path, 1), Setting: filepath.Base(path), Fate: Left, Why: "an early ccc wrote it from ccc.json at every start; it can be removed"})
		}
	}
	return nil
}

func (p *cccPlan) has(path string) bool {
	text, err := p.draft.Read(path)
	return err == nil && text != nil
}

// patch looks whether ccc took the place of Claude Code's program.
func (p *cccPlan) patch() error {
	patch, err := claude.Patched([]string{"PATH=" + p.draft.Getenv("PATH")})
	if err != nil || patch == nil {
		return nil // doctor tells of a missing client
	}
	p.Find(p.draft.Shown(patch.Script))
	p.Add(Item{
		Where: p.draft.At(patch.Script, 1), Setting: "ccc patch", Fate: Left,
		Why: "it takes the first word after claude for a provider; undo it with: ccc patch --reset",
	})
	p.Next = append(p.Next, "give Claude Code its name back: ccc patch --reset")
	return nil
}

// numberIn is a number, also one that is written as a string; empty for anything else.
func numberIn(v *hujson.Value) string {
	switch jsonfile.KindOf(v) {
	case '0':
		return fmt.Sprint(jsonfile.NumberOf(v))
	case '"':
		if text := jsonfile.StringOf(v); strings.Trim(text, "0123456789") == "" {
			return text
		}
	}
	return ""
}
