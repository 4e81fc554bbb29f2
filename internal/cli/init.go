package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/settings"
	"github.com/stopgate/stopgate/internal/trust"
)

type initOptions struct {
	where scopeFlags
	check string
	yes   bool
}

func newInit() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set this project up",
		Long: `Write a small .gauntlet/config.yml, put the hooks into the client's settings, and
approve the configuration. On a terminal it asks a few questions first. What is
there already is kept.`,
		Example: `  stopgate init
  stopgate init --check "make lint" --yes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := findHere()
			if err != nil {
				return err
			}
			return o.run(h, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	o.where.register(cmd)
	cmd.Flags().StringVar(&o.check, "check", "", "a command that must succeed before an agent may stop")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "ask nothing")
	return cmd
}

func (o *initOptions) run(h *here, in io.Reader, out io.Writer) error {
	if err := trust.RequirePerson("set a project up", o.yes); err != nil {
		return err
	}
	if h.globalErr != nil {
		return fmt.Errorf("mend the global config first:\n%w", h.globalErr)
	}
	exists := h.hasProject && isRegular(paths.ProjectConfig(h.root))
	scope, chosen := o.where.scope()
	installed, at := h.installedScope()
	if installed && !chosen {
		scope, chosen = at, true
	}
	if !o.yes && term.IsTerminal(int(os.Stdin.Fd())) {
		f := form{in: bufio.NewReader(in), out: out}
		fmt.Fprintf(out, "Setting up %s\n\n", h.root)
		if !exists && o.check == "" {
			o.check = f.ask("Command that must succeed before an agent may stop", guessCheck(h.root))
		}
		if !chosen {
			scope = f.scope()
		}
		fmt.Fprintf(out, "\nThis will\n%s", o.plan(h, scope, exists))
		if answer := f.ask("Go on?", "yes"); !strings.HasPrefix(strings.ToLower(answer), "y") {
			return errors.New("nothing was changed")
		}
	}
	return o.apply(h, out, scope, exists)
}

func (o *initOptions) plan(h *here, scope settings.Scope, exists bool) string {
	path, err := settings.Path(scope, h.root)
	if err != nil {
		path = scope.String() + " settings"
	}
	write := "write"
	if exists {
		write = "keep"
	}
	text := fmt.Sprintf("  - %s %s\n  - merge the hooks into %s\n  - approve the configuration as it stands\n", write, paths.ProjectConfig(h.root), path)
	if !h.global.Exists {
		text += fmt.Sprintf("  - write %s: only what you approve runs\n", h.globalPath)
	}
	return text
}

func (o *initOptions) apply(h *here, out io.Writer, scope settings.Scope, exists bool) error {
	path := paths.ProjectConfig(h.root)
	switch {
	case exists && o.check != "":
		return fmt.Errorf("%s exists; add the command there", path)
	case exists:
		fmt.Fprintf(out, "kept %s\n", path)
	default:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(path, []byte(firstConfig(o.check)), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	h.hasProject = true
	if !h.global.Exists {
		if err := h.enforceTrust(out); err != nil {
			return err
		}
	}
	if err := h.installHooks(out, scope); err != nil {
		return err
	}
	if err := approve(out, h, o.yes); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nnext: stopgate doctor")
	return nil
}

// installedScope is where the hooks are already.
func (h *here) installedScope() (bool, settings.Scope) {
	for _, file := range settings.Inspect(h.root) {
		if len(file.Entries) > 0 && file.Scope != settings.Managed {
			return true, file.Scope
		}
	}
	return false, settings.Local
}

func firstConfig(check string) string {
	const head = `# What stopgate does in this project. Check it with: stopgate validate

hooks:
`
	const example = `  # Stop:
  #   - run: make lint           # an agent may stop when this succeeds
  #     timeout: 60s
  #     message: fix the lint errors
`
	if check == "" {
		return head + example
	}
	return head + `  Stop:
    # An agent may stop when this succeeds.
    - run: ` + strconv.Quote(check) + `
      timeout: 10m
`
}

// guessCheck proposes what projects of this kind usually run.
func guessCheck(root string) string {
	for _, g := range []struct{ file, command string }{
		{"Makefile", "make test"},
		{"go.mod", "go test ./..."},
		{"package.json", "npm test"},
		{"Cargo.toml", "cargo test"},
		{"pyproject.toml", "pytest -q"},
	} {
		if isRegular(filepath.Join(root, g.file)) {
			return g.command
		}
	}
	return ""
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.FileMode(0)
}

// form asks questions, one a line. An empty answer takes the proposal.
type form struct {
	in  *bufio.Reader
	out io.Writer
}

func (f form) ask(question, proposal string) string {
	if proposal == "" {
		fmt.Fprintf(f.out, "%s (empty: none): ", question)
	} else {
		fmt.Fprintf(f.out, "%s [%s]: ", question, proposal)
	}
	answer, _ := f.in.ReadString('\n')
	if answer = strings.TrimSpace(answer); answer == "" {
		return proposal
	}
	return answer
}

func (f form) scope() settings.Scope {
	fmt.Fprintln(f.out, `Where shall the hooks go?
  1  your own settings in this project
  2  the project's settings, committed; teammates need stopgate on their PATH
  3  your own settings, for all projects`)
	switch f.ask("Choice", "1") {
	case "2":
		return settings.Project
	case "3":
		return settings.User
	}
	return settings.Local
}
