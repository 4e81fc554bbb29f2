// Package git makes the few calls to git that we need: without a shell, in an
// environment without the caller's GIT_ variables, and without writing
// anything, not even the index that git likes to refresh: only those of worktree.go and notes.go do.
//
// No call runs what a repository's configuration names as a pager, an external
// diff, a text conversion, a merge driver or a file system monitor. Clean filters do run, as they
// must: without them git would take every filtered file for changed. Contents runs the other
// way's, for the text that a file has in the work tree. An Aside runs those alone that it was told of.
package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Repo is git, called in one directory.
type Repo struct {
	dir     string
	program string // empty: not installed
	env     []string
	brief   bool // a command of milliseconds, which is not to be killed with us
	held    *os.File
	// settings are name=value, and win over those of files.
	settings []string
}

// At calls git in dir, which need not be a repository's root, with what is left of
// the environment without its GIT_ variables.
func At(dir string, environment []string) Repo {
	program, _ := environ.LookPath(environment, "git")
	return Repo{dir: dir, program: program, env: append(clean(environment), workTree(dir)...)}
}

// always are the options of every call. The settings among them are those by which a
// repository could keep changes from us, and the repository's further ones.
func always(further []string) []string {
	options := []string{"--no-pager"}
	settings := []string{
		"core.fsmonitor=false", "core.quotePath=false",
		"advice.graftFileDeprecated=false", // said because we name none
		// With others, a file that keeps its size and gets its old time back is the same.
		"core.trustCtime=true", "core.checkStat=default",
		"status.showUntrackedFiles=all", // of submodules, which get no options of ours
	}
	if runtime.GOOS == "linux" {
		// Where names differ in case, git would take a new file for one that it tracks.
		settings = append(settings, "core.ignoreCase=false")
	}
	for _, setting := range append(settings, further...) {
		options = append(options, "-c", setting)
	}
	return options
}

// run gives git's output to stdout.
func (r Repo) run(ctx context.Context, stdout io.Writer, args ...string) error {
	_, err := r.exec(ctx, nil, stdout, func() {}, args...)
	return err
}

// feed is run for a command that reads lines.
func (r Repo) feed(ctx context.Context, lines []string, stdout io.Writer, args ...string) error {
	_, err := r.exec(ctx, strings.NewReader(strings.Join(lines, "\n")+"\n"), stdout, func() {}, args...)
	return err
}

// exec calls started when git is on its way, and gives back what git printed beside its output. When
// ctx ends, git and everything it started is killed.
func (r Repo) exec(ctx context.Context, stdin io.Reader, stdout io.Writer, started func(), args ...string) (warning string, err error) {
	if r.program == "" {
		return "", ErrNotInstalled
	}

	stderr := &head{}
	cmd := exec.CommandContext(ctx, r.program, slices.Concat(always(r.settings), args)...)
	cmd.Dir, cmd.Env = r.dir, r.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, guarded{stdout}, stderr
	process.ContainTool(cmd)
	if r.brief {
		process.Outlive(cmd)
	}
	if r.held != nil {
		cmd.ExtraFiles = []*os.File{r.held}
	}

	if err = cmd.Start(); err == nil {
		started()
		err = cmd.Wait()
	}
	if err == nil {
		return strings.ToValidUTF8(strings.TrimSpace(string(stderr.text)), "\uFFFD"), nil
	}

	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", failure(args[0], exit.ExitCode(), stderr.line())
	}
	if _, gone := os.Stat(r.dir); gone != nil {
		err = gone // where git was to run, rather than git itself, is missing
	}
	return "", fmt.Errorf("git %s: %w", args[0], err)
}

// guarded makes an error of a panic in a writer. It comes from a goroutine of
// os/exec, where it would end the process.
type guarded struct{ to io.Writer }

func (g guarded) Write(p []byte) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("read git's output: %v", r)
		}
	}()
	return g.to.Write(p)
}

// output is git's whole output. It holds for lists of names, which are no larger
// than what is made of them.
func (r Repo) output(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	err := r.run(ctx, &out, args...)
	return out.String(), err
}

// names is the output of a command that prints names with a NUL after each.
func (r Repo) names(ctx context.Context, args ...string) ([]string, error) {
	out, err := r.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	return slices.Collect(records(out)), nil
}

// mostOfErrors is how much is kept of what git prints beside its output.
const mostOfErrors = 4 << 10

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), mostOfErrors-len(h.text))]...)
	return len(p), nil
}

// line is the first line, which in git's messages says what is wrong. That a note is replaced is said
// before that, and is what was asked for.
func (h *head) line() string {
	text := strings.TrimSpace(string(h.text))
	if strings.HasPrefix(text, "Overwriting existing notes") {
		_, text, _ = strings.Cut(text, "\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	return strings.ToValidUTF8(line, "\uFFFD")
}
