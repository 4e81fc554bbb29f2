package setup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/daemon"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// askPatience is how long another copy may take to say which version it is.
const askPatience = 10 * time.Second

// Copy is a program of ours on this machine, or something that starts one.
type Copy struct {
	What    string `json:"what"` // stopgate, stopgated, daemon, hook, link, service
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Stale   string `json:"stale,omitempty"` // why it does not fit the program that looks
	Help    string `json:"help,omitempty"`
}

// Copies are all that were found, with what looks first.
type Copies []Copy

// Failure implements term.Failing.
func (all Copies) Failure() error {
	return term.FailedIf(slices.ContainsFunc(all, func(c Copy) bool { return c.Stale != "" }))
}

// Print implements term.View.
func (all Copies) Print(out io.Writer) {
	paint := term.PaintFor(out)
	for _, c := range all {
		mark := paint.Green("✓")
		if c.Stale != "" {
			mark = paint.Red("✗")
		}
		fmt.Fprintf(out, "%s %-10s%s\n", mark, c.What, strings.Join(slices.DeleteFunc([]string{term.Shown(c.Path), plain.Line(c.Version)}, func(s string) bool { return s == "" }), "  "))
		if c.Stale != "" {
			fmt.Fprintf(out, "  %s\n", plain.Line(c.Stale))
		}
		if c.Help != "" {
			fmt.Fprintf(out, "  → %s\n", plain.Line(c.Help))
		}
	}
}

// FindCopies looks for every copy of stopgate and stopgated that can be called on this machine. Only
// what is on the PATH, or beside this program, is run: paths in settings files may come from a clone.
func FindCopies(ctx context.Context) (Copies, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := finder{ctx: ctx, self: real(self), asked: map[string]answer{}}
	f.add(Copy{What: "stopgate", Path: self, Version: program.Version()})
	f.programs()
	f.links()
	f.daemon()
	f.service()
	f.hooks()
	return f.all, nil
}

// finder looks for copies.
type finder struct {
	ctx   context.Context
	self  string
	asked map[string]answer // by paths without links
	all   Copies
}

// answer is what a program says about itself.
type answer struct {
	version, commit string
	err             error
}

// isOurs reports whether a program that answered is of this build.
func (a answer) isOurs() bool {
	return a.err == nil && sameBuild(a, answer{version: program.Version(), commit: program.Commit()})
}

// sameBuild compares the commits, where they are known. The same one has a version of another name when it is made
// by make, as a package and by go install.
func sameBuild(a, b answer) bool {
	const shortest, dirty = 7, "dirty"
	n := min(len(a.commit), len(b.commit))
	if n < shortest {
		return a.version == b.version
	}
	return a.commit[:n] == b.commit[:n] && strings.Contains(a.version, dirty) == strings.Contains(b.version, dirty)
}

func (f *finder) add(c Copy) { f.all = append(f.all, c) }

// places are the directories in which a program of ours may be called: that of this one, and the PATH.
func (f *finder) places() []string {
	dirs := append([]string{filepath.Dir(f.self)}, filepath.SplitList(os.Getenv("PATH"))...)
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// programs finds the programs beside this one and on the PATH.
func (f *finder) programs() {
	const same = "install this version there, or remove it"
	for _, name := range []string{"stopgate", "stopgated"} {
		seen := map[string]bool{}
		first, _ := exec.LookPath(name)
		for _, dir := range f.places() {
			path := filepath.Join(dir, name)
			if f.dangling(path) && !seen[path] {
				f.add(Copy{What: name, Path: path, Stale: "it points to a program that does not exist", Help: "rm " + settings.ShellCommand(path)})
			}
			seen[path] = true

			path, err := exec.LookPath(path)
			place := filepath.Join(real(dir), name)
			if err != nil || real(path) == f.self || seen[place+"\x00"] {
				continue
			}
			seen[place+"\x00"] = true

			c := Copy{What: name, Path: path}
			switch a := f.ask(path); {
			case a.err != nil:
				c.Stale, c.Help = "it does not say which version it is: "+a.err.Error(), same
			case !a.isOurs():
				c.Version, c.Stale, c.Help = a.version, "another version than this one, "+program.Version(), same
			default:
				c.Version = a.version
			}
			if c.Stale != "" && path == first {
				c.Stale += "; it is the first one on your PATH, so your shell runs it"
			}
			f.add(c)
		}
	}
}

// dangling reports whether a link leads to a program of ours that is not there.
func (f *finder) dangling(path string) bool {
	target, err := os.Readlink(path)
	if err != nil {
		return false
	}
	if _, err := os.Stat(path); err == nil {
		return false
	}
	return slices.Contains([]string{"stopgate", "stopgated"}, program.Called(target))
}

// ask has a program say which version it is, once.
func (f *finder) ask(path string) answer {
	key := real(path)
	if known, asked := f.asked[key]; asked {
		return known
	}
	a := answer{}
	a.version, a.commit, a.err = f.versionOf(path)
	f.asked[key] = a
	return a
}

func (f *finder) versionOf(path string) (version, commit string, err error) {
	ctx, cancel := context.WithTimeout(f.ctx, askPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", "", err
	}
	name, rest, _ := strings.Cut(string(bytes.TrimSpace(out)), " ")
	version, rest, _ = strings.Cut(rest, " ")
	if name != "stopgate" && name != "stopgated" || version == "" {
		return "", "", fmt.Errorf("it prints %q", plain.Clip(plain.Line(string(out)), 60))
	}
	if _, after, found := strings.Cut(rest, "commit "); found {
		commit, _, _ = strings.Cut(after, ",")
	}
	return version, commit, nil
}

// links finds the other names of stopgate on the PATH that lead to another one, or to none. Programs of these
// names that are not stopgate are other tools.
func (f *finder) links() {
	for _, name := range []string{"conclaude", "agent-gauntlet", "ccc", "tui-driver", "oj"} {
		for _, dir := range slices.Compact(f.places()) {
			path := filepath.Join(dir, name)
			target := real(path)
			c := Copy{What: "link", Path: path, Help: "link it to this program: " + settings.ShellCommand("ln", "-sf", f.self, path)}
			switch {
			case f.dangling(path):
				c.Stale = "it points to a program that does not exist"
			case !disk.Exists(path), program.Called(target) != "stopgate":
				continue
			case target != f.self && f.asked[target].version != "" && f.asked[target].isOurs():
				c.Help = ""
			case target != f.self:
				c.Stale = "it points to " + target
			default:
				c.Help = ""
			}
			if !slices.Contains(f.all, c) {
				f.add(c)
			}
		}
	}
}

// daemon asks the daemon that runs.
func (f *finder) daemon() {
	state, err := paths.StateDir()
	if err != nil {
		return
	}
	running, err := daemonapi.At(state).Version(f.ctx)
	if err != nil {
		return // none runs, or it does not answer: stopgate daemon status says more
	}
	c := Copy{What: "daemon", Version: running.Version}
	if !(answer{version: running.Version, commit: running.Commit}).isOurs() {
		c.Stale, c.Help = "it runs another version than this one, "+program.Version(), "stopgate daemon restart"
	}
	f.add(c)
}

// service finds what systemd starts.
func (f *finder) service() {
	path, err := daemon.UnitPath(os.Getenv)
	if err != nil {
		return
	}
	text, err := regular.Read(path, 1<<20)
	if err != nil {
		return // none is installed
	}
	c := Copy{What: "service", Path: path}
	started := daemon.UnitProgram(string(text))
	if beside := filepath.Join(filepath.Dir(f.self), "stopgated"); started != "" && real(started) != real(beside) {
		c.Stale, c.Help = "it starts "+started, "stopgate daemon install"
	}
	f.add(c)
}

// hooks finds the entries in the settings of Claude Code that lead elsewhere: here, and in every project that was
// approved, with its worktrees.
func (f *finder) hooks() {
	cwd, err := os.Getwd()
	if err != nil {
		return
	}

	dirs := []string{cwd}
	if state, err := paths.StateDir(); err == nil {
		dirs = worktrees(append(dirs, trust.NewStore(state).Roots()...))
	}

	seen := map[string]bool{}
	for _, dir := range dirs {
		files := settings.Inspect(dir)
		for _, file := range files {
			all := slices.Concat(file.Entries, file.Supervisor, file.Alike)
			if !file.Calls(files) || len(all) == 0 || seen[file.Path] {
				continue
			}
			seen[file.Path] = true
			c := Copy{What: "hook", Path: file.Path}
			for _, entry := range all {
				c.Stale = cmp.Or(c.Stale, f.leadsElsewhere(entry))
			}
			if c.Stale != "" {
				c.Help = renewIn(dir, cwd, file)
			}
			f.add(c)
		}
	}
}

// renewIn is the command that brings the entries of a file up to date, from where the person is.
func renewIn(dir, cwd string, file settings.File) string {
	own := file.Scope == settings.Project || file.Scope == settings.Local
	if own && paths.Canonical(dir) != paths.Canonical(cwd) {
		return "cd " + settings.ShellCommand(dir) + " && " + file.Renew()
	}
	return file.Renew()
}

// leadsElsewhere is why an entry does not call this program, "" where it does.
func (f *finder) leadsElsewhere(e settings.Entry) string {
	path, found := e.Resolve()
	same := f.asked[real(path)] // of those on the PATH alone: no other was run
	switch {
	case !found:
		return fmt.Sprintf("the entry for %s calls %s, which is not there", e.Event, e.Program())
	case !e.Living() && same.version != "" && same.isOurs():
	case !e.Living():
		return fmt.Sprintf("the entry for %s calls another stopgate, %s", e.Event, path)
	case !e.Current():
		return fmt.Sprintf("the entry for %s was written by an older stopgate", e.Event)
	}
	return ""
}

// real is a path without links, where that can be told.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
