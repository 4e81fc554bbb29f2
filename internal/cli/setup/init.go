// Package setup has the commands that install, approve, check and remove enforcement.
package setup

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

type initOptions struct {
	scope  settings.Scope
	chosen bool // the scope was
	check  string
	yes    bool
}

func NewInit() *cobra.Command {
	var o initOptions
	var where scopeFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set this project up",
		Long: `Write a small .gauntlet/config.yml, put the hooks into the client's settings, and
approve the configuration. On a terminal it asks a few questions first. What is
there already is kept.`,
		Example: `  stopgate init
  stopgate init --check "make lint" --yes`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.scope, o.chosen, err = where.scope(cmd); err != nil {
				return err
			}
			h, err := here.FindNearest()
			if err != nil {
				return err
			}
			return o.run(h, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	where.register(cmd)
	cmd.Flags().StringVar(&o.check, "check", "", "a command that must succeed before an agent may stop")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "ask nothing, for scripts outside the client")
	return cmd
}

func (o *initOptions) run(h *here.Place, in io.Reader, out io.Writer) error {
	if err := trust.RequirePerson("set a project up", o.yes); err != nil {
		return err
	}
	if h.GlobalErr != nil {
		return fmt.Errorf("fix the global config first:\n%w", h.GlobalErr)
	}
	if home, _ := os.UserHomeDir(); !h.HasProject && (h.Root == filepath.Dir(h.Root) || h.Root == home) {
		return term.WithHint(fmt.Errorf("%s is no project: everything below it would be part of it", h.Root), "go to the project's folder first")
	}
	exists := h.HasProject && disk.IsRegular(paths.ProjectConfig(h.Root))
	if exists {
		if err := o.keepable(h); err != nil {
			return err
		}
	} else if standing, _ := h.Trust().Standing(h.Root); standing.ApprovedIn != paths.Canonical(h.Root) && standing.Absent(os.Environ()) {
		return notInBranch(h) // another one would be the other worktrees', too
	}
	if installed, at := installedScope(h); installed && !o.chosen {
		o.scope, o.chosen = at, true
	}
	f := form{bufio.NewReader(in), out}
	if !o.yes {
		fmt.Fprintf(out, "Setting up %s\n\n", h.Root)
		if err := o.ask(f, h.Root, exists); err != nil {
			return err
		}
	}
	to, err := settingsTarget(h, o.scope)
	if err != nil {
		return err
	}
	if !o.yes {
		fmt.Fprintf(out, "\nThis will\n%s", plan(h, to, exists))
		if ok, err := f.agreed("Go on?", "yes"); err != nil || !ok {
			return cmp.Or(err, errors.New("nothing was changed"))
		}
	}
	return o.apply(h, out, to, exists)
}

// keepable refuses a configuration that can be neither changed nor approved,
// before anything is written.
func (o *initOptions) keepable(h *here.Place) error {
	if o.check != "" {
		return term.WithHint(fmt.Errorf("%s exists", paths.ProjectConfig(h.Root)), "add the command there, then run: stopgate trust")
	}
	if _, err := ReadContents(h.ConfigDir(), h.Short(h.ConfigDir())); err != nil {
		return fmt.Errorf("fix the configuration first (see: stopgate validate):\n%w", err)
	}
	return nil
}

// ask fills what the command line left open.
func (o *initOptions) ask(f form, root string, exists bool) (err error) {
	if !exists && o.check == "" {
		if o.check, err = f.ask("Command that must succeed before an agent may stop (- for none)", cmp.Or(guessCheck(root), none)); err != nil {
			return err
		}
		if o.check == none {
			o.check = ""
		}
	}
	if !o.chosen {
		o.scope, err = f.scope()
	}
	return err
}

// trusts reports whether trust is to be turned on: always with hooks for all
// projects, else when the global config is ours to write.
func trusts(h *here.Place, scope settings.Scope) bool {
	return !h.Global.Exists || !h.Enforces() && scope == settings.User
}

func plan(h *here.Place, to target, exists bool) string {
	var b strings.Builder
	if trusts(h, to.scope) {
		fmt.Fprintf(&b, "  - write \"trust: enforce\" to %s: only what you approve runs\n", h.GlobalPath)
	}
	fmt.Fprintf(&b, "  - merge the hooks into %s\n", to.path)
	if all := exclusions(to.scope, to.path); to.scope == settings.Local && len(all) > 0 {
		fmt.Fprintf(&b, "  - have git ignore that file, unless it does already: in %s\n", all[0].list)
	}
	verb := "write"
	if exists {
		verb = "keep"
	}
	fmt.Fprintf(&b, "  - %s %s\n  - approve it as it stands\n", verb, paths.ProjectConfig(h.Root))
	return b.String()
}

func (o *initOptions) apply(h *here.Place, out io.Writer, to target, exists bool) error {
	if trusts(h, to.scope) {
		if err := enforceTrust(h, out); err != nil {
			return err
		}
	}
	if err := installHooks(h, out, to); err != nil {
		return err
	}
	path := paths.ProjectConfig(h.Root)
	if exists {
		fmt.Fprintf(out, "kept %s\n", path)
	} else {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := writeFirst(filepath.Dir(path), o.check); err != nil {
			return err
		}
		h.HasProject = true
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	if err := approve(out, h, o.yes); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nnext: stopgate doctor")
	return nil
}

// installedScope is where the hooks are already.
func installedScope(h *here.Place) (bool, settings.Scope) {
	for _, file := range settings.Inspect(h.Root) {
		if len(file.Entries) > 0 && file.Scope != settings.Managed {
			return true, file.Scope
		}
	}
	return false, settings.Local
}

// schemaFile is beside config.yml, so that an editor finds it in every clone.
const schemaFile = "config.schema.json"

// writeFirst writes a project's first configuration, and what an editor needs to
// help with it.
func writeFirst(dir, check string) error {
	schema, err := config.Schema("project")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, schemaFile), schema, 0o644); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, paths.ConfigFile), []byte(firstConfig(check)), 0o644)
}

func firstConfig(check string) string {
	const head = `# yaml-language-server: $schema=` + schemaFile + `
# What stopgate does in this project. Check it with: stopgate validate

# An agent may stop when the gates of what it changed pass. What has passed does
# not run again while nothing changes.
`
	const tail = `
stop_hook:
  run_interval_minutes: 0 # look at every stop
  verify_fixes: true      # after a failure, check again until it is fixed
`
	if check == "" {
		return head + `entry_points:
  # - path: .
  #   checks:
  #     - name: lint
  #       command: make lint
` + tail
	}
	return head + `entry_points:
  - path: .
    checks:
      - name: ` + checkName(check) + `
        command: ` + strconv.Quote(check) + `
        # timeout: 240s
` + tail
}

// checkName names a check after what it does.
func checkName(command string) string {
	for _, name := range []string{"test", "lint", "build"} {
		if strings.Contains(command, name) {
			return name
		}
	}
	return "check"
}

// guessCheck proposes what projects of this kind usually run. A build file
// without tests would make a check that always fails.
func guessCheck(root string) string {
	for _, g := range []struct{ file, holds, command string }{
		{"Makefile", "\ntest:", "make test"},
		{"go.mod", "", "go test ./..."},
		{"package.json", `"test":`, "npm test"},
		{"Cargo.toml", "", "cargo test"},
		{"pyproject.toml", "pytest", "pytest -q"},
	} {
		text, err := os.ReadFile(filepath.Join(root, g.file))
		if err == nil && bytes.Contains(append([]byte("\n"), text...), []byte(g.holds)) {
			return g.command
		}
	}
	return ""
}

// form asks questions, one a line. An empty answer takes the proposal.
type form struct {
	in  *bufio.Reader
	out io.Writer
}

// none is the answer that declines a proposal.
const none = "-"

// ask returns an error when there is no answer: whoever closes the form has
// agreed to nothing.
func (f form) ask(question, proposal string) (string, error) {
	fmt.Fprintf(f.out, "%s [%s]: ", question, proposal)
	answer, err := f.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(f.out)
		return "", errors.New("no answer; nothing was changed")
	}
	if answer = strings.TrimSpace(answer); answer == "" {
		return proposal, nil
	}
	return answer, nil
}

// agreed asks a question that is answered by yes or no.
func (f form) agreed(question, proposal string) (bool, error) {
	answer, err := f.ask(question, proposal)
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

func (f form) scope() (settings.Scope, error) {
	fmt.Fprintln(f.out, `Where shall the hooks go?
  1  your own settings in this project
  2  the project's settings, committed; teammates need stopgate on their PATH
  3  your own settings, for all projects`)
	for {
		answer, err := f.ask("1, 2 or 3", "1")
		switch {
		case err != nil:
			return settings.Local, err
		case answer == "1":
			return settings.Local, nil
		case answer == "2":
			return settings.Project, nil
		case answer == "3":
			return settings.User, nil
		}
	}
}
