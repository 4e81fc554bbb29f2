package errand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Run is the runner, which is a process of its own: it takes its environment for the
// command's, SIGTERM for the wish that the command end, and tells whoever started it on
// standard output how that went.
func Run(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// Whoever started us may be gone, which must not end us. To ignore the signal would
	// have the command ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return runner{
		dir: directory(dir), stage: pipes{os.Environ(), os.Stderr}, now: time.Now, mouth: os.Stdout,
		grace: grace, patience: enough,
	}.run(ctx)
}

// enough is the patience with a disk that does not take the result.
const enough = 5 * time.Minute

type runner struct {
	dir      directory
	stage    stage
	now      func() time.Time
	mouth    io.WriteCloser // to whoever started us
	grace    time.Duration  // for a command that was asked to end
	patience time.Duration  // with a disk that does not take the result, once we were asked to end
}

// stage is where a command runs.
type stage interface {
	hold(directory) (lock *os.File, err error)
	environ(directory) ([]string, error) // of the command
	start(cmd *exec.Cmd, out *output) error
	wait(cmd *exec.Cmd) (code int)
	ended(out *output) // out gets what it did not get yet
}

// pipes is where a command has nobody but us to talk to.
type pipes struct {
	env    []string
	stderr *os.File
}

func (p pipes) hold(d directory) (*os.File, error) { return d.hold(p.stderr) }

func (p pipes) environ(directory) ([]string, error) { return p.env, nil }

func (pipes) start(cmd *exec.Cmd, out *output) error {
	cmd.Stdout, cmd.Stderr = out, out
	return cmd.Start()
}

func (pipes) wait(cmd *exec.Cmd) int {
	_ = cmd.Wait() // the state tells more
	return exitCode(cmd.ProcessState)
}

func (pipes) ended(*output) {}

func (r runner) run(ctx context.Context) error {
	spec, lock, err := r.begin()
	if err != nil {
		if !errors.Is(err, errNoTerminal) { // else it is another's word that is waited for
			r.say(sayLater + err.Error())
		}
		return err
	}
	defer lock.Close()

	if r.dir.has("kill") {
		r.say(sayBegun)
		return r.finish(ctx, nil, Result{Code: -1})
	}

	out := newOutput(spec, r.now)
	defer out.close()
	cmd, err := r.start(spec, out)
	if errors.Is(err, errHungUp) { // as a moment later: that is no fault of the command's
		r.say(sayBegun)
		return r.finish(ctx, out, Result{Code: 128 + int(syscall.SIGHUP)})
	}
	if err != nil {
		// On record first: whoever hears of it may ask again.
		failed := r.finish(ctx, out, Result{Code: 127, Failed: err.Error()})
		r.say(sayFailed + err.Error())
		return failed
	}

	r.say(sayBegun)
	result := r.await(ctx, cmd)
	if spec.Terminal && result.Code > 128 { // a client that was killed leaves its tools alone, each in a session of its own
		process.EndMarked(r.dir.mark())
	}

	r.stage.ended(out)
	result.Tail = out.end()
	if !spec.Terminal {
		result.Output, result.Fault = r.dir.outputs()
	}
	return r.finish(ctx, out, result)
}

// say says the one thing that is to be said.
func (r runner) say(word string) {
	_, _ = io.WriteString(r.mouth, word) // nobody may be there to hear it
	_ = r.mouth.Close()
}

// begin takes the lock and puts on record that the command begins.
func (r runner) begin() (Spec, *os.File, error) {
	lock, err := r.stage.hold(r.dir)
	if err != nil {
		return Spec{}, nil, err
	}
	if r.dir.begun() {
		return Spec{}, nil, errors.Join(fmt.Errorf("%s has already started", r.dir), lock.Close())
	}
	spec, err := r.dir.spec()
	if err == nil {
		spec.Env, err = r.stage.environ(r.dir)
	}
	if err == nil {
		err = r.dir.begin(process.Self())
	}
	if err != nil {
		return Spec{}, nil, errors.Join(err, lock.Close())
	}
	r.dir.forgetEnviron()
	return spec, lock, nil
}

func (r runner) start(spec Spec, out *output) (*exec.Cmd, error) {
	args := process.Shell(spec.Script)
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = spec.Dir, append(spec.Env, r.dir.mark(), outputVariable+"="+r.dir.path("output"))
	process.Contain(cmd)
	if err := r.stage.start(cmd, out); err != nil {
		return nil, misplaced(spec.Dir, err)
	}
	r.recordGroup(cmd.Process.Pid)
	return cmd, nil
}

// misplaced names the directory where that is why a command could not be started: the
// system's own words are about the shell.
func misplaced(dir string, err error) error {
	switch info, missing := os.Stat(dir); {
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Errorf("the directory %s does not exist", dir)
	case missing != nil:
		return fmt.Errorf("cannot use the directory: %w", missing)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return err
}

// recordGroup need not succeed: what the command leaves behind when we are killed is
// found by its mark, too. Nor is it durable: nothing of a group outlives the machine.
func (r runner) recordGroup(pid int) {
	group := process.IdentityOf(pid)
	if text, err := json.Marshal(group); err == nil {
		_ = atomicfile.Replace(r.dir.path("group"), text, 0o600)
	}
}

// await waits for the command, or ends it. What it has left in its group ends with it,
// and when it was ended, also what had left the group.
func (r runner) await(ctx context.Context, cmd *exec.Cmd) (result Result) {
	ended := make(chan struct{})
	go func() {
		result.Code = r.stage.wait(cmd)
		close(ended)
	}()
	killed := false
	select {
	case <-ended:
	case <-ctx.Done():
		killed = true
		r.end(cmd.Process.Pid, ended)
	}
	_ = killGroup(cmd.Process.Pid)
	<-ended
	if killed {
		process.EndMarked(r.dir.mark())
		process.EndOrphans()
	}
	return result
}

// end asks the group to end, and gives it time. The shell often goes first, and leaves
// its children to us: not before, because we wait for none that it leaves while it runs.
func (r runner) end(pid int, ended <-chan struct{}) {
	process.Adopt()
	patience := time.NewTimer(r.grace)
	defer patience.Stop()
	_ = askGroup(pid)
	select {
	case <-ended:
	case <-patience.C:
		return
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for groupLives(pid) {
		select {
		case <-look.C:
		case <-patience.C:
			return
		}
	}
}

// finish puts on record how it ended, and before that what the log lacks, which is whole
// for those who see that it ended. A disk that is full may not stay so: only when we
// were asked to end does patience come to its end.
func (r runner) finish(ctx context.Context, out *output, result Result) error {
	result.Ended = r.now().UTC()
	asked := ctx.Done()
	var giveUp <-chan time.Time
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		out.tellMissing()
		err := r.dir.write("exit.json", result)
		if err == nil {
			return nil
		}
		select {
		case <-asked:
			asked, giveUp = nil, time.After(r.patience)
		case <-giveUp:
			return err
		case <-time.After(pause):
		}
	}
}
