package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// unitName is what systemd calls the daemon.
const unitName = "stopgated.service"

func newDaemonInstall() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install a systemd unit for the daemon",
		Long: `Write, enable and start a systemd user unit: the daemon then starts at login and restarts after
a crash. To start it when the machine boots, before you log in, run: loginctl enable-linger. A
running daemon is stopped first. The unit contains the current PATH, in which the commands of
runbooks are looked up.

Exit code 0: installed, or already installed. 1: the unit was edited; --force overwrites it.
3: systemd is not available.`,
		Example: `  stopgate daemon install
  systemctl --user status stopgated`,
		Args: term.NoArgs,
		RunE: Asking(func(ctx context.Context, p *Daemon, _ []string) error { return p.install(ctx, force) }),
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if the unit was edited")
	return cmd
}

func newDaemonUninstall() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the systemd unit",
		Long: `Stop and disable the daemon's systemd unit, and remove its file. Commands and agents keep
running; pipelines continue when the daemon starts again.

Exit code 0: removed, or not installed. 1: the unit was edited; --force removes it anyway.
3: systemd is not available.`,
		Example: `  stopgate daemon uninstall`,
		Args:    term.NoArgs,
		RunE:    Asking(func(ctx context.Context, p *Daemon, _ []string) error { return p.Uninstall(ctx, force) }),
	}
	cmd.Flags().BoolVar(&force, "force", false, "even if the unit was edited")
	return cmd
}

func (p *Daemon) install(ctx context.Context, force bool) error {
	path, err := UnitPath(os.Getenv)
	if err != nil {
		return err
	}
	unit, err := ourUnit()
	if err != nil {
		return err
	}
	old, err := readUnit(path, force)
	if err != nil {
		return err
	}

	if old == unit {
		fmt.Fprintf(p.out, "%s is already installed\n", term.Shown(path))
	} else {
		if err := atomicfile.Write(path, []byte(unit), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "wrote %s\n", term.Shown(path))
	}

	if old == unit && systemctl(ctx, "is-active", "--quiet", unitName) == nil {
		fmt.Fprintln(p.out, "the daemon is running under systemd")
		return nil
	}
	if !hasSystemctl() {
		return p.byHand("enable --now")
	}

	// The daemon that runs makes room only for one that systemd can start.
	if err := systemctl(ctx, "show-environment"); err != nil {
		hint := "nothing else was changed; once systemd runs for this user, run: systemctl --user daemon-reload, stopgate daemon stop, systemctl --user enable --now " + unitName
		return term.CannotRun(fmt.Errorf("systemd does not run for this user: %w", err), hint)
	}
	if stopped, err := p.Halt(ctx, false); err != nil {
		return err
	} else if stopped {
		fmt.Fprintln(p.out, "stopped the daemon that ran without systemd")
	}
	return p.tellSystemd(ctx, []string{"daemon-reload"}, []string{"enable", "--now", unitName})
}

func (p *Daemon) Uninstall(ctx context.Context, force bool) error {
	path, err := UnitPath(os.Getenv)
	if err != nil {
		return err
	}
	old, err := readUnit(path, force)
	if err != nil {
		return err
	}

	if old == "" {
		fmt.Fprintf(p.out, "%s is not installed\n", term.Shown(path))
		return nil
	}

	if !hasSystemctl() {
		if err := p.removeUnit(path); err != nil {
			return err
		}
		return p.byHand("daemon-reload")
	}

	// A systemd that cannot be told must not keep the file there.
	disabled := p.tellSystemd(ctx, []string{"disable", "--now", unitName})
	if err := p.removeUnit(path); err != nil {
		return err
	}
	if disabled != nil {
		return disabled
	}
	return p.tellSystemd(ctx, []string{"daemon-reload"})
}

func (p *Daemon) removeUnit(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "removed %s\n", term.Shown(path))
	return err
}

// ourUnit is the unit's text. Its first line holds a hash of the others, by which we
// know a unit that was not edited.
func ourUnit() (string, error) {
	program, err := here.FindProgram("stopgated", os.Environ())
	if err != nil {
		return "", err
	}
	state, err := otherStateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "STOPGATE_STATE_DIR": state}
	return unitText(program, env)
}

// unitText writes a unit. systemd ends only the daemon itself, because what that
// started is to go on.
func unitText(program string, env map[string]string) (string, error) {
	if strings.ContainsFunc(program+env["PATH"]+env["STOPGATE_STATE_DIR"], func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", errors.New("a systemd unit cannot contain a path with a control character")
	}
	var b strings.Builder
	b.WriteString("[Unit]\nDescription=stopgate: runs pipelines and agents\n\n[Service]\n")
	fmt.Fprintf(&b, "ExecStart=%s daemon\n", unitWord(program))
	for _, name := range []string{"PATH", "STOPGATE_STATE_DIR"} {
		if env[name] != "" {
			fmt.Fprintf(&b, "Environment=%s\n", unitWord(name+"="+env[name]))
		}
	}
	b.WriteString("Restart=on-failure\nRestartSec=1\nKillMode=process\n\n[Install]\nWantedBy=default.target\n")
	return unitHead(b.String()) + b.String(), nil
}

// unitWord quotes a word as systemd reads it. Of a dollar sign it makes nothing, in the
// program of ExecStart and in Environment alike, so that must not be doubled.
func unitWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(word) + `"`
}

// UnitProgram is the program that a unit of ours starts, "" where the unit does not say it as ours do.
func UnitProgram(text string) string {
	_, rest, _ := strings.Cut(text, "\nExecStart=\"")
	word, _, found := strings.Cut(rest, "\" daemon\n")
	if !found {
		return ""
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%").Replace(word)
}

func unitHead(rest string) string {
	sum := sha256.Sum256([]byte(rest))
	return "# Written by stopgate daemon install " + hex.EncodeToString(sum[:8]) + "\n"
}

// readUnit reads the unit that is there; "" means none. One that is not as we wrote it
// is refused without force.
func readUnit(path string, force bool) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if !force && string(text) != unitHead(rest)+rest {
		return "", term.WithHint(fmt.Errorf("%s was edited, or was not written by stopgate", term.Shown(path)), "to overwrite or remove it anyway, add: --force")
	}
	return string(text), nil
}

func hasSystemctl() bool {
	_, err := exec.LookPath("systemctl")
	return err == nil
}

// systemctl runs it for the user's units.
func systemctl(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "systemctl", append([]string{"--user"}, args...)...).CombinedOutput()
	if err != nil && len(out) > 0 {
		err = fmt.Errorf("%w: %s", err, plain.Line(string(out)))
	}
	return err
}

// tellSystemd runs systemctl with each of the arguments, and shows that.
func (p *Daemon) tellSystemd(ctx context.Context, all ...[]string) error {
	for _, args := range all {
		line := "systemctl --user " + strings.Join(args, " ")
		if err := systemctl(ctx, args...); err != nil {
			return term.CannotRun(fmt.Errorf("%s: %w", line, err), "run it again once systemd runs for this user")
		}
		fmt.Fprintf(p.out, "ran %s\n", line)
	}
	return nil
}

// byHand says what to do where there is no systemctl.
func (p *Daemon) byHand(what string) error {
	fmt.Fprintf(p.errOut, "stopgate: systemctl was not found; on a machine with systemd, run: systemctl --user daemon-reload\n")
	if what != "daemon-reload" {
		fmt.Fprintf(p.errOut, "then run: systemctl --user %s %s\n", what, unitName)
	}
	return nil
}

// hasUnit reports whether systemd is to run the daemon of this state directory: by a unit of the
// user's, or by the package's, once that is enabled.
func hasUnit(getenv func(string) string) bool {
	path, err := UnitPath(getenv)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(filepath.Dir(path), "default.target.wants", unitName))
	}
	if err != nil {
		return false
	}
	state, err := otherStateDir(getenv)
	if err != nil {
		return false
	}
	const variable = "STOPGATE_STATE_DIR="
	if state == "" {
		return !strings.Contains(string(text), variable)
	}
	return strings.Contains(string(text), unitWord(variable+state))
}

// launchUnit has systemd start the daemon, and waits until that can be asked. systemd
// itself does not say when that is.
func (p *Daemon) launchUnit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := systemctl(ctx, "start", unitName); err != nil {
		return unitFailed(fmt.Errorf("systemd could not start the daemon: %w", err))
	}
	for range pause.Doubling(ctx, 10*time.Millisecond, time.Second) {
		_, err := p.Version(ctx)
		switch {
		case !IsDown(err):
			return err
		case systemctl(ctx, "is-active", "--quiet", unitName) != nil:
			return unitFailed(errors.New("systemd could not run the daemon"))
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return unitFailed(fmt.Errorf("the daemon was not ready after %s", plain.Duration(startPatience)))
	}
	return ctx.Err()
}

func unitFailed(err error) error {
	return term.CannotRun(err, "see why with: journalctl --user -u "+unitName)
}

// hasManager reports whether systemd can be asked to run anything for this user: not so in
// a container, or in a shell that another user opened.
func hasManager(ctx context.Context) bool {
	return hasSystemctl() && systemctl(ctx, "show-environment") == nil
}

// UnitPath is where systemd looks for a user's units.
func UnitPath(getenv func(string) string) (string, error) {
	// The XDG specification says that a relative value is to be ignored.
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("cannot find the directory for systemd units: HOME is not set")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "systemd", "user", unitName), nil
}

// otherStateDir is the state directory where it is not the one that a process of systemd
// would find by itself.
func otherStateDir(getenv func(string) string) (string, error) {
	dir, err := paths.StateDirOf(getenv)
	if err != nil {
		return "", err
	}
	usual, err := paths.StateDirOf(func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return getenv(name)
		}
		return ""
	})
	if err == nil && usual == dir {
		return "", nil
	}
	return dir, nil
}
