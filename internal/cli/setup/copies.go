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
	"github.com/stopgate/stopgate/internal/cli/plane"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/environ"
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
	f := finder{ctx: ctx, self: real(self)}
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
	ctx  context.Context
	self string
	all  Copies
}

func (f *finder) add(c Copy) { f.all = append(f.all, c) }

// programs finds the programs beside this one and on the PATH.
func (f *finder) programs() {
	const same = "install this version there, or remove it"
	seen := map[string]bool{f.self: true}
	for _, name := range []string{"stopgate", "stopgated"} {
		for _, dir := range append([]string{filepath.Dir(f.self)}, filepath.SplitList(os.Getenv("PATH"))...) {
			path, err := exec.LookPath(filepath.Join(dir, name))
			if err != nil || !filepath.IsAbs(dir) || seen[real(path)] {
				continue
			}
			seen[real(path)] = true
			c := Copy{What: name, Path: path}
			switch version, err := f.ask(path); {
			case err != nil:
				c.Stale, c.Help = "it does not say which version it is: "+err.Error(), same
			case version != program.Version():
				c.Version, c.Stale, c.Help = version, "another version than this one, "+program.Version(), same
			default:
				c.Version = version
			}
			f.add(c)
		}
	}
}

// ask has a program say which version it is.
func (f *finder) ask(path string) (string, error) {
	ctx, cancel := context.WithTimeout(f.ctx, askPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	name, rest, _ := strings.Cut(string(bytes.TrimSpace(out)), " ")
	version, _, _ := strings.Cut(rest, " ")
	if name != "stopgate" && name != "stopgated" || version == "" {
		return "", fmt.Errorf("it prints %q", plain.Clip(plain.Line(string(out)), 60))
	}
	return version, nil
}

// links finds the other names of stopgate on the PATH that lead to another one. Programs of these names
// that are not stopgate are other tools.
func (f *finder) links() {
	for _, name := range []string{"conclaude", "agent-gauntlet", "ccc", "tui-driver", "oj"} {
		path, found := environ.LookPath(os.Environ(), name)
		if !found || program.Called(real(path)) != "stopgate" {
			continue
		}
		c := Copy{What: "link", Path: path}
		if target := real(path); target != f.self {
			c.Stale, c.Help = "it leads to "+target, "link it to this program: "+settings.ShellCommand("ln", "-sf", f.self, path)
		}
		f.add(c)
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
	if running.Version != program.Version() {
		c.Stale, c.Help = "it runs another version than this one, "+program.Version(), "stopgate daemon restart"
	}
	f.add(c)
}

// service finds what systemd starts.
func (f *finder) service() {
	path, err := plane.UnitPath(os.Getenv)
	if err != nil {
		return
	}
	text, err := regular.Read(path, 1<<20)
	if err != nil {
		return // none is installed
	}
	c := Copy{What: "service", Path: path}
	started := plane.UnitProgram(string(text))
	if beside := filepath.Join(filepath.Dir(f.self), "stopgated"); started != "" && real(started) != real(beside) {
		c.Stale, c.Help = "it starts "+started, "stopgate daemon install"
	}
	f.add(c)
}

// hooks finds the entries in the settings of Claude Code that lead elsewhere.
func (f *finder) hooks() {
	cwd, err := os.Getwd()
	if err != nil {
		return
	}
	files := settings.Inspect(cwd)
	for _, file := range files {
		if !file.Calls(files) {
			continue
		}
		stale := ""
		for _, entry := range slices.Concat(file.Entries, file.Supervisor, file.Alike) {
			stale = cmp.Or(stale, leadsElsewhere(entry))
		}
		if len(file.Entries)+len(file.Supervisor)+len(file.Alike) == 0 {
			continue
		}
		c := Copy{What: "hook", Path: file.Path, Stale: stale}
		if stale != "" {
			c.Help = file.Renew()
		}
		f.add(c)
	}
}

// leadsElsewhere is why an entry does not call this program, "" where it does.
func leadsElsewhere(e settings.Entry) string {
	path, found := e.Resolve()
	switch {
	case !found:
		return fmt.Sprintf("the entry for %s calls %s, which is not there", e.Event, e.Program())
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
