// Package doctor proves, from Claude Code's side, that enforcement is live: it
// looks at every settings file in force and at what the gates need, and then calls
// the installed command the way Claude Code does, in a project made for that
// purpose. It never runs the user's own commands, and nothing that a settings file
// names but this very binary.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/gate/need"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Level says what a finding means for enforcement.
type Level string

// The levels. Any Dead finding means that a stop in this project is not, or not
// wholly, enforced; any Unsure one that it may not be.
const (
	OK     Level = "ok"
	Warn   Level = "warning"
	Unsure Level = "unsure"
	Dead   Level = "dead"
)

// Finding is one thing that was looked at.
type Finding struct {
	Level Level  `json:"level"`
	What  string `json:"what"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
	// Part means that only a part of the configuration is not enforced.
	Part bool `json:"part,omitempty"`
}

// Label is what a person reads for What, which programs know.
func (f Finding) Label() string {
	if f.What == "client" {
		return "claude"
	}
	return f.What
}

// Place is where enforcement is to be proven.
type Place struct {
	StateDir   string
	GlobalPath string
	Dir        string // where Claude Code is started: it reads the settings there, and none above
	Root       string // the project's
	HasProject bool
	// Needs says what command lines need.
	Needs need.Reader
}

// Report is what was found.
type Report struct {
	Findings []Finding
	Commands int // that the project has, as far as that could be read
	// Invalid means that the project's files as they are now could not be approved.
	Invalid bool
}

// Examine looks at everything, in the order in which a stop would meet it.
func Examine(ctx context.Context, place Place) Report {
	e := &examination{Place: place, project: &config.Project{}}
	e.claudeCode(ctx)
	e.files = settings.InspectFrom(place.Dir, e.localRoot())
	e.environment = environmentOfHooks(e.files)
	e.muted()
	e.settingsFiles()
	e.entries()
	e.configuration()
	e.gates(ctx)
	e.timeouts()
	e.probe(ctx)
	return Report{Findings: e.findings, Commands: e.commands, Invalid: e.invalid}
}

// Live reports whether enforcement is known to work.
func (r Report) Live() bool { return !r.has(Dead) && !r.has(Unsure) }

// Dead reports whether enforcement is known not to work.
func (r Report) Dead() bool { return r.has(Dead) }

// Partly reports whether all that is known not to work are parts of the configuration: stops are enforced.
func (r Report) Partly() bool {
	return r.Dead() && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Dead && !f.Part })
}

func (r Report) has(level Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == level })
}

type examination struct {
	Place
	version     string // of Claude Code; empty when unknown
	files       []settings.File
	environment map[string]string // what the files add to that of the hooks
	project     *config.Project   // empty until it was read
	commands    int               // what it would run
	jobs        []*gauntlet.Job   // which of them are gates
	elsewhere   []string          // programs of entries that Claude Code finds in another place
	edited      bool              // an approved copy is in force, and not the files as they are
	invalid     bool              // the files as they are could not be approved
	findings    []Finding
}

// find notes something. A text may quote what a clone brought with it.
func (e *examination) find(level Level, what, text, hint string) {
	e.findings = append(e.findings, Finding{Level: level, What: what, Text: plain.Line(text), Hint: plain.Line(hint)})
}

// tested are the versions of Claude Code that all end-to-end tests run with.
var tested = []string{"2.1.197", "2.1.325"}

func (e *examination) claudeCode(ctx context.Context) {
	path := os.Getenv("CLAUDE_BIN")
	if path == "" {
		path = "claude"
	}

	found, err := exec.LookPath(path)
	if err != nil {
		why := err.Error()
		if errors.Is(err, exec.ErrNotFound) {
			why = path + " is not on the PATH"
		}
		e.find(Warn, "client", "Claude Code was not found: "+why, "install it, or set CLAUDE_BIN")
		return
	}

	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	version, err := exec.CommandContext(ctx, found, "--version").Output()
	if err != nil {
		e.find(Warn, "client", fmt.Sprintf("%s --version failed: %v", found, err), "")
		return
	}

	e.version, _, _ = strings.Cut(strings.TrimSpace(string(version)), " ")
	text := found + " " + strings.TrimSpace(string(version))
	if !slices.Contains(tested, e.version) {
		text += " (stopgate is tested with " + strings.Join(tested, " and ") + ")"
	}
	e.find(OK, "client", text, "")
}

// localRoot is where else Claude Code takes settings.local.json from. Of a client that
// is not known the older habit is assumed: it reads less.
func (e *examination) localRoot() string {
	if root, found := paths.MainWorktree(e.Dir); found && atLeast(e.version, settings.LocalFromMain) {
		return root
	}
	return e.Dir
}

// atLeast compares versions of the form 2.1.197.
func atLeast(version, least string) bool {
	return slices.Compare(numbers(version), numbers(least)) >= 0
}

func numbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

func (e *examination) settingsFiles() {
	level := Dead // for a dropped file: it holds our hooks, or nobody can tell
	if slices.ContainsFunc(e.inForce(), func(entry settings.Entry) bool { return entry.Event == hook.Stop }) {
		level = Warn
	}

	for _, f := range e.files {
		if !f.Exists {
			continue
		}
		where := fmt.Sprintf("%s settings", f.Scope)
		if f.Plugin != "" {
			where = "plugin"
		}
		switch {
		case f.Plugin != "" && !f.By.On:
			e.find(Warn, where, f.WhyAsleep(), f.Enable())
		case f.Err != nil:
			e.find(level, where, fmt.Sprintf("Claude Code ignores the whole file: %v", f.Err), "fix the file")
		case len(f.Faults) > 0:
			for _, fault := range f.Faults {
				e.find(level, where, fmt.Sprintf("Claude Code ignores the whole file: %s:%s", f.Path, fault), "fix the file")
			}
		case f.Plugin != "":
			e.find(OK, where, f.Plugin+", enabled in "+f.By.Path, "")
		default:
			e.find(OK, where, f.Path, "")
		}
	}

	if by, disabled := settings.Disabled(e.files); disabled && level == Dead {
		e.find(Dead, "hooks", by.Path+" switches all hooks off", "remove disableAllHooks or allowManagedHooksOnly there")
	}
}

// inForce lists our entries that Claude Code really calls.
func (e *examination) inForce() []settings.Entry { return settings.InForce(e.files) }

func (e *examination) entries() {
	e.lookalikes()
	e.gone()
	e.older()
	entries := e.inForce()
	if unread, found := settings.OutOfReach(e.Dir, e.Root); len(entries) == 0 && found {
		e.find(Dead, "hooks", unread.String(), unread.Hint())
		return
	}
	if plugin, found := settings.Asleep(e.files); len(entries) == 0 && found {
		e.find(Dead, "hooks", plugin.WhyAsleep(), plugin.Enable())
		return
	}
	if len(entries) == 0 {
		e.find(Dead, "hooks", "not installed in any settings file that Claude Code reads here", "stopgate hooks install")
		return
	}
	e.narrow(entries)
	e.duplicates(entries)
	e.spoilt(entries)
	e.programs(entries)
}

// gone finds entries whose program cannot be started any more.
func (e *examination) gone() {
	reported := map[string]bool{}
	for _, f := range e.files {
		for _, entry := range f.Entries {
			if program := entry.Program(); f.Calls(e.files) && !entry.Living() && !reported[program+f.Path] {
				reported[program+f.Path] = true
				why, hint := "cannot be started: no such program", "stopgate hooks install"
				if f.Plugin != "" {
					hint = "put the directory of stopgate on your PATH"
				}
				if path, found := entry.Resolve(); found {
					why, hint = "is a different program here: "+path, "run its own doctor, or put this one first on the PATH"
				}
				e.find(Dead, "program", fmt.Sprintf("the hooks in %s call %s, which %s", f.Path, program, why), hint)
			}
		}
	}
}

// older finds entries that an older stopgate installed.
func (e *examination) older() {
	for _, f := range e.files {
		old := 0
		for _, entry := range f.Entries {
			if entry.Living() && !entry.Current() {
				old++
			}
		}
		if old > 0 && f.Calls(e.files) {
			e.find(Warn, "hooks", fmt.Sprintf("%s has entries of an older stopgate (%d): they make Copilot CLI deny every tool call, and teammates without stopgate see errors", f.Path, old),
				f.Renew())
		}
	}
}

// narrow finds entries of an older stopgate that are not called for all that they would be
// called for today.
func (e *examination) narrow(entries []settings.Entry) {
	for _, event := range settings.Narrow(entries) {
		e.find(Warn, "hooks", fmt.Sprintf("the entry for %s is from an older stopgate and covers fewer tools, so stopgate does not see everything that agents do", event), settings.InstallCommand(e.files))
	}
}

// lookalikes finds calls of us that only a person can judge.
func (e *examination) lookalikes() {
	for _, f := range e.files {
		if !f.Calls(e.files) {
			continue
		}
		for _, entry := range f.Alike {
			e.find(Warn, "hooks", fmt.Sprintf("%q for %s in %s looks like a call to another stopgate, which also answers; it was not run", entry.Line(), entry.Event, f.Path), "remove it")
		}
	}
}

// spoilt finds entries whose answer does not count.
func (e *examination) spoilt(entries []settings.Entry) {
	for _, entry := range entries {
		if len(entry.Spoilt) > 0 {
			e.find(Dead, "hooks", fmt.Sprintf("the entry for %s has %s, so Claude Code does not wait for its answer or does not call it at all", entry.Event, strings.Join(entry.Spoilt, ", ")),
				settings.InstallCommand(e.files))
		}
	}
}

// duplicates finds events that are answered twice. Claude Code runs the same
// command line once, however often settings files have it, and once more for a plugin.
func (e *examination) duplicates(entries []settings.Entry) {
	lines := map[hook.Event]map[string]bool{}
	for _, entry := range entries {
		if lines[entry.Event] == nil {
			lines[entry.Event] = map[string]bool{}
		}
		lines[entry.Event][entry.Plugin+"\x00"+entry.Command+"\x00"+strings.Join(entry.Args, "\x00")] = true
	}
	for _, event := range hook.Events() {
		if len(lines[event]) > 1 {
			e.find(Warn, "hooks", fmt.Sprintf("%s is installed %d times, so it is called %d times; the gates still run once per stop", event, len(lines[event]), len(lines[event])),
				e.keepOne())
			break
		}
	}
	if len(lines[hook.Stop]) == 0 {
		e.find(Dead, "hooks", "no entry for Stop", settings.InstallCommand(e.files))
		return
	}
	e.find(OK, "hooks", fmt.Sprintf("installed for %d events", len(lines)), "")
}

// keepOne is how a person has one place left that calls us.
func (e *examination) keepOne() string {
	for _, f := range e.files {
		if f.Plugin != "" && f.Calls(e.files) {
			return "keep one: stopgate hooks uninstall, or " + f.Disable()
		}
	}
	return "keep one scope: stopgate hooks uninstall --user|--project|--local"
}

// programs finds what the hooks start with the PATH that Claude Code has once it has read its
// settings, which need not be ours.
func (e *examination) programs(entries []settings.Entry) {
	self, err := os.Executable()
	if err != nil {
		e.find(Dead, "program", err.Error(), "")
		return
	}

	reported := map[string]bool{}
	for _, entry := range entries {
		program := entry.Program()
		if reported[program] {
			continue
		}
		reported[program] = true
		if program != filepath.Base(program) {
			e.find(OK, "program", "the hooks call "+program, "") // it is in force, so it is this binary
			continue
		}

		found, err := e.lookPath(program)
		switch {
		case err != nil:
			e.find(Dead, "program", fmt.Sprintf("the hooks call %s, which is not on the PATH that the settings set for hooks", program), "remove PATH from env in the settings")
		case !disk.Same(found, self):
			e.find(Dead, "program", fmt.Sprintf("with the PATH that the settings set for hooks, %s is a different program: %s", program, found), "remove PATH from env in the settings")
		default:
			e.find(OK, "program", "the hooks call "+found, "")
			continue
		}
		e.elsewhere = append(e.elsewhere, program)
	}
}

// timeouts finds entries that Claude Code would end before our own deadline can
// answer.
func (e *examination) timeouts() {
	entries := e.inForce()
	for _, event := range hook.Events() {
		has, found := e.granted(entries, event)
		if !found {
			continue
		}
		want, longest := settings.DefaultTimeout(event), e.longest(event)
		switch {
		case event.Loops() && longest > stop.Budget(has):
			hint := settings.InstallCommand(e.files)
			if longest > stop.Budget(want) {
				hint = "give the command a shorter timeout, or the entry a longer one"
			}
			e.find(Dead, "timeout", fmt.Sprintf("commands for %s may take %s, but Claude Code stops waiting for the hook after %s", event, longest, has), hint)
		case has < want && event == hook.PermissionRequest:
			e.find(Warn, "timeout", fmt.Sprintf("an agent's question must be answered within %s, the timeout of %s; stopgate installs %s", has, event, want),
				settings.InstallCommand(e.files))
		case has < want:
			e.find(Warn, "timeout", fmt.Sprintf("Claude Code waits %s for %s and then allows it; stopgate installs %s", has, event, want),
				settings.InstallCommand(e.files))
		}
	}
}

// granted is how long Claude Code waits for the one of our entries for which it waits least.
func (e *examination) granted(entries []settings.Entry, event hook.Event) (least time.Duration, found bool) {
	for _, entry := range entries {
		if entry.Event != event {
			continue
		}
		if t := settings.Timeout(event, entry.Call().Timeout, e.Dir, e.localRoot()); !found || t < least {
			least, found = t, true
		}
	}
	return least, found
}

// longest is how long a command of the project for the event may run, or how long a gate
// took when it last ran.
func (e *examination) longest(event hook.Event) (longest time.Duration) {
	if event == hook.Stop && len(e.jobs) > 0 {
		history := ledger.OpenHistory(e.StateDir, e.Root).Read()
		for _, job := range e.jobs {
			last, _ := job.Before(history)
			longest = max(longest, last.In.Round(time.Second))
		}
	}
	for _, command := range e.project.Hooks[event] {
		longest = max(longest, command.Timeout)
	}
	return longest
}

func (e *examination) configuration() {
	global, err := trust.LoadGlobal(e.GlobalPath, e.StateDir)
	if err != nil {
		e.globalFaults(err, "; invalid sections fall back to the defaults")
	}

	if !e.HasProject {
		e.find(Warn, "project", "no .gauntlet/config.yml here or above: nothing to enforce", "stopgate init")
		return
	}
	if recess, on := stop.InRecess(e.StateDir, e.Root, time.Now()); on {
		e.find(Dead, "off", "stopgate is off here until "+recess.Until.Local().Format(time.DateTime), "stopgate on")
	}

	dir := filepath.Join(e.Root, paths.GauntletDir)
	if global.Trust == config.TrustEnforce {
		dir = e.trusted(dir)
		if dir == "" {
			return
		}
	} else {
		e.find(Warn, "trust", "not enforced: commands of every project you open run without approval", "stopgate hooks install --user, or add \"trust: enforce\" to "+e.GlobalPath)
	}

	shown := filepath.Join(e.Root, paths.GauntletDir)
	project, err := config.LoadProject(dir, shown)
	if err != nil {
		e.faulty(Dead, dir, shown, err)
		return
	}
	gates, err := config.LoadGates(dir, shown, project)
	if err != nil {
		e.faulty(Dead, dir, shown, err)
		return
	}

	e.project = project
	for _, exempt := range global.Exemptions(project, e.ownEnviron(), paths.ProjectConfig(e.Root), e.GlobalPath) {
		e.find(Dead, exempt.Name(), exempt.String(), exempt.Remedy())
	}
	e.lenient(global)
	e.commands = len(project.Commands()) + len(gates.Commands())

	name := paths.ProjectConfig(e.Root)
	switch {
	case !paths.HasConfig(e.Root):
		name = "the approved configuration"
	case e.edited:
		name = "the approved copy of " + name
	}
	switch denials := len(project.Deny); {
	case e.commands+denials == 0:
		e.find(Warn, "config", name+" is valid, but has no gates and no commands: nothing is checked", "add some under entry_points:")
	case denials > 0:
		e.find(OK, "config", fmt.Sprintf("%s is valid; commands: %d; deny rules: %d", name, e.commands, denials), "")
	default:
		e.find(OK, "config", fmt.Sprintf("%s is valid; commands: %d", name, e.commands), "")
	}

	for _, event := range settings.Uncovered(e.inForce(), project) {
		e.uncovered(event)
	}
}

// lenient finds settings by which some stops are allowed without a look.
func (e *examination) lenient(global *config.Global) {
	settings := config.ResolveStopHook(e.ownEnviron(), e.project.Gauntlet.StopHook, global.StopHook, config.HookDefaults)
	if settings.RunInterval > 0 {
		e.find(Unsure, "run_interval_minutes", fmt.Sprintf("a stop within %s of the last run is not checked, unless a failure is open", settings.RunInterval),
			"set run_interval_minutes: 0 under stop_hook:, or remove GAUNTLET_STOP_HOOK_INTERVAL_MINUTES")
	}
	if !settings.VerifyFixes {
		e.find(Unsure, "verify_fixes", "false: a stop that follows a block is allowed without a check",
			"set verify_fixes: true under stop_hook:, or remove GAUNTLET_STOP_HOOK_VERIFY_FIXES")
	}
}

// uncovered says what of the project is not in force, because Claude Code does not call us for an event.
func (e *examination) uncovered(event hook.Event) {
	what := "commands"
	if event == hook.PreToolUse && len(e.project.Hooks[event]) == 0 {
		what = "deny rules"
	}
	e.find(Dead, "hooks", fmt.Sprintf("the project has %s for %s, but Claude Code does not call stopgate for it", what, event), settings.InstallCommand(e.files))
	e.findings[len(e.findings)-1].Part = event != hook.Stop
}

// approvable is why the files as they are could not be approved; nil where they could.
func approvable(live string) error {
	project, err := config.LoadProject(live, live)
	if err == nil {
		_, err = config.LoadGates(live, live, project)
	}
	return err
}

// unapproved notes a project that was never approved, and why it could not be.
func (e *examination) unapproved(live string) {
	err := approvable(live)
	hint := "stopgate trust"
	if err != nil {
		hint = stop.FixAndApprove
	}
	e.find(Dead, "trust", live+" was never approved: nothing in it runs", hint)

	if err != nil {
		e.invalid = true
		e.faulty(Warn, live, live, err)
	}
}

// examineEdited warns of a configuration that is not in force and could not be
// approved.
func (e *examination) examineEdited(live string) {
	e.edited = true
	if err := approvable(live); err != nil {
		e.invalid = true
		e.find(Warn, "config", live+" is invalid now, so it cannot be approved", "stopgate validate")
		e.faulty(Warn, live, live, err)
	}
}

// trusted is the directory whose content may run; empty when there is none.
func (e *examination) trusted(live string) string {
	standing, err := trust.NewStore(e.StateDir).Standing(e.Root)
	switch {
	case err != nil:
		e.find(Dead, "trust", err.Error(), "stopgate trust")
		return ""
	case standing.State == trust.Untrusted:
		e.unapproved(live)
		return ""
	case standing.Absent(e.ownEnviron()):
		e.find(Warn, "trust", fmt.Sprintf("%s %s: %s", paths.ProjectConfig(e.Root), trust.NotInBranch, standing.Content.Remedy()), trust.GetHere)
	case standing.Gone:
		e.find(Warn, "trust", fmt.Sprintf("%s is missing: %s", paths.ProjectConfig(e.Root), standing.Content.Remedy()), "stopgate trust --restore")
	case standing.State == trust.Edited:
		e.find(Warn, "trust", fmt.Sprintf("%s was edited since it was approved (%s): %s", live, trust.Summary(standing.Changed), standing.Content.Remedy()), "stopgate trust --show")
		e.examineEdited(live)
	default:
		remedy, _ := trust.RemedyHere()
		e.find(OK, "trust", fmt.Sprintf("approved on %s; if it is edited, %s", standing.ApprovedAt.Local().Format(time.DateTime), remedy), "")
	}
	return standing.Dir
}

// environmentOfHooks is what the settings add to the environment of our hooks: of the
// variables that stopgate itself goes by, nothing that is a project's.
func environmentOfHooks(files []settings.File) map[string]string {
	all := settings.Environment(files)
	persons := settings.Environment(slices.DeleteFunc(slices.Clone(files), func(f settings.File) bool {
		return f.Scope == settings.Project || f.Scope == settings.Local
	}))
	for name := range all {
		if !environ.Own(name) {
			continue
		}
		delete(all, name)
		if value, set := persons[name]; set {
			all[name] = value
		}
	}
	return all
}
