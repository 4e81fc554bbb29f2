package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// shop is the project: shell scripts, so that it needs nothing but sh and git. In reviewer is what is
// called in place of Claude Code.
//
//go:embed shop reviewer
var files embed.FS

// stage is where the demo plays: a home of its own, with a project in it.
type stage struct {
	out     io.Writer
	paint   term.Paint
	watched bool

	home, state, project string
	env                  []string
	stopgate             string
	stops                int // so far; they tell prompts apart
}

func newStage(out io.Writer, watched bool) (*stage, error) {
	self, err := program.Stopgate()
	if err != nil {
		return nil, err
	}

	for _, needed := range []string{"sh", "git"} {
		if _, found := environ.LookPath(os.Environ(), needed); !found {
			return nil, &program.MissingError{Name: needed}
		}
	}

	home, err := newHome()
	if err != nil {
		return nil, err
	}
	s := &stage{
		out: out, paint: term.PaintFor(out), watched: watched,
		home: home, state: stateIn(home), project: filepath.Join(home, "shop"), stopgate: self,
	}

	// Nothing of the user's reaches the demo.
	path := strings.Join([]string{filepath.Join(home, "reviewer"), filepath.Dir(self), os.Getenv("PATH")}, string(os.PathListSeparator))
	s.env = []string{"HOME=" + home, "PATH=" + path, "STOPGATE_STATE_DIR=" + s.state, "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8"}
	if err := s.copyFiles(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	return s, nil
}

// newHome makes a directory that all of the demo is in: where files that do not last are, or in /tmp where
// the path of the daemon's socket would be too long there.
func newHome() (home string, err error) {
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		home, err = os.MkdirTemp(parent, "stopgate-demo-")
		if err != nil {
			break
		}
		if daemonapi.CheckSocket(daemonapi.Socket(stateIn(home))) == nil {
			return home, nil
		}
		if err = os.Remove(home); err != nil {
			break
		}
		err = fmt.Errorf("the path of %s is too long for the daemon's socket", parent)
	}
	return "", fmt.Errorf("%w; set TMPDIR to a directory with a short path", err)
}

// stateIn is the state directory in a home. Its name is short: a socket's path is limited.
func stateIn(home string) string { return filepath.Join(home, "s") }

// copyFiles writes the project. What is in gauntlet/ here is the project's .gauntlet/.
func (s *stage) copyFiles() error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(s.home, filepath.FromSlash(strings.Replace(name, "shop/gauntlet", "shop/.gauntlet", 1)))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o700)
	})
}

// clear ends what runs, and removes everything.
func (s *stage) clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := s.run(ctx, "daemon", "stop", "--kill")
	return errors.Join(err, os.RemoveAll(s.home))
}

func (s *stage) daemon() *daemonapi.Client { return daemonapi.At(s.state) }

// run runs a command of stopgate in the project, and returns what it prints.
func (s *stage) run(ctx context.Context, args ...string) (string, error) {
	return s.command(ctx, nil, append([]string{s.stopgate}, args...)...)
}

func (s *stage) command(ctx context.Context, stdin []byte, args ...string) (string, error) {
	r := process.Run(ctx, process.Command{Args: args, Dir: s.project, Env: s.env, Stdin: stdin, Lines: 40})
	if !r.OK() {
		shown := append([]string{filepath.Base(args[0])}, args[1:]...)
		return string(r.Stdout), fmt.Errorf("%s: %s\n%s", strings.Join(shown, " "), r, strings.TrimSpace(r.Tail))
	}
	return string(r.Stdout), nil
}

// show runs a command as a person would, and prints it with its output.
func (s *stage) show(ctx context.Context, args ...string) error {
	s.print(s.paint.Faint("$ stopgate " + strings.Join(args, " ")))
	text, err := s.run(ctx, args...)
	s.wrap("", strings.TrimRight(text, "\n"), func(line string) string { return line })
	s.pause(ctx)
	return err
}

// write has an agent write a file.
func (s *stage) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.project, filepath.FromSlash(name)), []byte(text), 0o600)
}

// hook sends what Claude Code would send.
func (s *stage) hook(ctx context.Context, session string, p hook.Payload) (hook.Printed, error) {
	base := p.Common()
	base.SessionID, base.TranscriptPath, base.CWD = session, s.transcript(session), s.project
	base.PromptID = fmt.Sprintf("prompt-%d", s.stops)

	text, err := hook.Encode(p)
	if err != nil {
		return hook.Printed{}, err
	}
	said, err := s.command(ctx, text, s.stopgate, "hook", string(p.Event()))
	if err != nil {
		return hook.Printed{}, err
	}
	return hook.ParseAnswer([]byte(said))
}

func (s *stage) print(text string) { fmt.Fprintln(s.out, text) }

func (s *stage) say(text string) {
	s.print("")
	s.wrap("", text, s.paint.Bold)
}

// wrap prints a text in lines that fit the terminal, each behind a beginning.
func (s *stage) wrap(beginning, text string, colour func(string) string) {
	for _, line := range term.Wrap(text, max(20, term.WidthOf(s.out)-term.Cells(beginning))) {
		s.print(colour(strings.TrimRight(beginning+line, " ")))
	}
}

// pause gives a person who watches time to read.
func (s *stage) pause(ctx context.Context) {
	if s.watched {
		_ = pause.For(ctx, 900*time.Millisecond) // what follows ends with the context
	}
}
