package send

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// runOpenClaw has the program openclaw give the message to its gateway. It blocks for
// the whole turn of the agent and knows no keys; and a signal to it ends the turn. So
// one that was started is never ended by us and never started twice while it runs: not
// even by the sender that comes after one that was killed.
func (s Sender) runOpenClaw(ctx context.Context, a registry.OutsideAgent, l wake.Letter) (note string, err error) {
	program, err := s.program(a.Gateway.Program)
	if err != nil {
		return "", err
	}
	args, err := s.openClawArgs(a, l)
	if err != nil {
		return "", err
	}
	r, err := openRun(s.runDir(l))
	if err != nil {
		return "", err
	}
	defer r.close()

	if note, err = s.takeOver(ctx, r); note == "" && err == nil {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = s.ConfigDir, s.environ(l)
		note, err = s.start(ctx, cmd, r)
	}

	if errors.Is(err, errLeft) && ctx.Err() == nil {
		return "still runs after " + s.turn.String() + ", treated as delivered", nil
	}
	return note, err
}

// errLeft says that the program still runs.
var errLeft = errors.New("openclaw still runs")

func (s Sender) openClawArgs(a registry.OutsideAgent, l wake.Letter) (args []string, err error) {
	args = []string{"agent", "--agent", a.AgentID}
	if a.OpenclawSessionID != "" {
		args = append(args, "--session-id", a.OpenclawSessionID)
	}
	option, message := "--message", ""
	if a.Gateway.MessageFile {
		option = "--message-file"
		message, err = s.keep(l)
	} else {
		message, err = s.fit(l, maxArgument, func(message string) int { return len(message) })
	}
	// A NUL would keep the program from starting.
	return append(args, option, strings.ReplaceAll(message, "\x00", ""), "--json"), err
}

// maxArgument is how large one argument may be: Linux takes 128 KiB.
const maxArgument = 120 << 10

// start starts the program and waits for it, as long as we have time. Its output goes
// to files: a pipe would break when we are killed, and with it the program.
func (s Sender) start(ctx context.Context, cmd *exec.Cmd, r *run) (note string, err error) {
	cmd.Stdout, cmd.Stderr = r.stdout, r.stderr
	process.Outlive(cmd)
	inherit(cmd, r.lock)
	if err := cmd.Start(); err != nil {
		return "", notStarted(cmd.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	limit := time.NewTimer(s.turn)
	defer limit.Stop()
	look := time.NewTicker(s.look)
	defer look.Stop()

	for {
		select {
		case err := <-ended:
			return r.ending(err)
		case <-look.C:
			r.bound()
		case <-limit.C:
			return "", errLeft
		case <-ctx.Done():
			return "", errLeft
		}
	}
}

// notStarted is why a program could not be started.
func notStarted(program string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fixable("cannot start %s: %v", filepath.Base(program), err)
	}
	return passing("cannot start %s: %v", filepath.Base(program), err)
}

// takeOver sees to a program that a former sender started for this letter and did not
// see end. Without a note or an error there is none, or it delivered nothing.
func (s Sender) takeOver(ctx context.Context, r *run) (note string, err error) {
	for !r.free() {
		if s.now().Sub(r.begun) >= s.turn {
			return "", errLeft
		}
		if s.wait(ctx, s.look) != nil {
			return "", errLeft
		}
	}
	if said := r.said(); said.delivered() && !said.embedded() {
		return "by a program that an earlier sender had started", nil
	}
	return "", r.restart()
}

// run is one run of openclaw: where it prints to, and a lock that it inherits and that
// ends with it.
type run struct {
	dir                  string
	begun                time.Time
	lock, stdout, stderr *os.File
	dropped              bool // output that told of a fallback is gone
}

func openRun(dir string) (r *run, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r = &run{dir: dir}
	for _, file := range r.files() {
		if *file.f, err = os.OpenFile(file.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
			r.close()
			return nil, err
		}
	}
	info, err := r.lock.Stat()
	if err != nil {
		r.close()
		return nil, err
	}
	r.begun = info.ModTime()
	return r, nil
}

type runFile struct {
	f    **os.File
	path string
}

func (r *run) files() []runFile {
	return []runFile{
		{&r.lock, filepath.Join(r.dir, "lock")},
		{&r.stdout, filepath.Join(r.dir, "stdout")},
		{&r.stderr, filepath.Join(r.dir, "stderr")},
	}
}

func (r *run) close() {
	for _, file := range r.files() {
		if *file.f != nil {
			_ = (*file.f).Close()
		}
	}
}

// restart empties the files for a new run, from now on.
func (r *run) restart() error {
	// What is written, if only nothing, is what the time of the file tells.
	return errors.Join(r.stdout.Truncate(0), r.stderr.Truncate(0), os.Chtimes(r.lock.Name(), time.Time{}, time.Now()))
}

// discard removes what a try by openclaw has left, once it is written down what came of
// it: until then the next sender may need it. A message of which a part was sent stays:
// the agent was told of its file.
func (s Sender) discard(t try) {
	if t.outside.Gateway.Transport != registry.ViaOpenClaw {
		return
	}
	r := run{dir: s.runDir(t.letter)}
	for _, file := range r.files() {
		_ = os.Remove(file.path)
	}
	if t.outside.Gateway.MessageFile || len(t.letter.Body) <= maxArgument {
		_ = os.Remove(filepath.Join(r.dir, "message.md"))
	}
	_ = os.Remove(r.dir) // unless the message is in it
}

// free reports whether no program of this run is left; the lock is ours then.
func (r *run) free() bool { return tryLock(r.lock) }

// maxOutput is from where on output is no longer what any openclaw prints.
const maxOutput = 64 << 20

// bound keeps the output from filling the disk.
func (r *run) bound() {
	for _, f := range []*os.File{r.stdout, r.stderr} {
		if info, err := f.Stat(); err == nil && info.Size() > maxOutput {
			r.dropped = r.dropped || r.said().embedded()
			_ = f.Truncate(0)
		}
	}
}

// maxRead is how much of the output is read at each end of it.
const maxRead = 2 << 20

// said is what the program has printed up to now: the answer, which it prints last, and
// what it says of the way there.
func (r *run) said() output { return output{readEnds(r.stdout, 0), readEnds(r.stderr, maxRead)} }

// ending is what came of a program that ended so.
func (r *run) ending(err error) (note string, failed error) {
	said := r.said()
	switch {
	case r.dropped || said.embedded():
		return "", &failure{reason: "openclaw did not reach its gateway and processed the message itself", pace: costly}
	case said.inFlight():
		return "is already being processed", nil
	case err == nil:
		return "", nil
	case said.unknownAgent():
		return "", fixable("openclaw: %v: %s", err, said.reason())
	}
	return "", passing("openclaw: %v: %s", err, said.reason())
}

// readEnds reads so much of the beginning of a file, and the end of it.
func readEnds(f *os.File, most int64) []byte {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, most))
	info, err := f.Stat()
	if err != nil {
		return text
	}
	end, _ := io.ReadAll(io.NewSectionReader(f, max(info.Size()-maxRead, int64(len(text))), maxRead))
	return append(text, end...)
}
