package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ErrClosed means that a control client has ended: it was closed, its server is gone, or
// the session that it was attached to.
var ErrClosed = errors.New("the connection to tmux has ended")

// Control is a client that stays: each command costs a line over a pipe instead of a
// process. It is for processes that ask often. It may be used concurrently.
type Control struct {
	turn  sync.Mutex // one command at a time
	input io.WriteCloser
	// answers come from the goroutine that reads; closed when tmux has ended.
	answers chan answer
	ended   chan struct{} // closed when nobody waits for answers any more
	end     func()

	patience time.Duration // with a server that hangs
}

// answer is what tmux printed for one command.
type answer struct {
	lines  []string
	failed bool
}

// Open attaches a control client to the session that was used last, which has to be
// somewhere: tmux ends clients without one. The session does not feel it: neither its
// size nor its environment changes, and what its panes print is not sent.
func Open(ctx context.Context, s Server) (*Control, error) {
	life, end := context.WithCancel(context.Background())
	cmd, err := s.command(life, "-N", "-C", "attach-session", "-E", "-f", "ignore-size,no-output")
	if err != nil {
		end()
		return nil, err
	}
	c, err := start(cmd, end)
	if err != nil {
		end()
		return nil, fmt.Errorf("tmux attach-session: %w", err)
	}
	first, err := c.next(ctx)
	if err == nil && first.failed {
		err = ErrNoSession
	}
	if errors.Is(err, ErrClosed) { // no server
		err = ErrNoSession
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// start runs a control client and reads its answers.
func start(cmd *exec.Cmd, kill func()) (*Control, error) {
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Control{input: input, answers: make(chan answer), ended: make(chan struct{}), patience: patience}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer close(c.answers)
		c.read(bufio.NewReader(output))
		_, _ = io.Copy(io.Discard, output)
		_ = cmd.Wait()
	}()
	c.end = sync.OnceFunc(func() {
		close(c.ended)
		_ = input.Close() // which tmux takes for the end
		late := time.AfterFunc(c.patience, func() {
			kill()
			_ = output.Close() // the server has the other end too, and keeps it open
		})
		<-gone
		late.Stop()
		kill()
	})
	return c, nil
}

// read hands out the answers until there are no more.
func (c *Control) read(r *bufio.Reader) {
	attached := false
	for {
		a, ours, err := readAnswer(r)
		if err != nil {
			return
		}
		// Commands of hooks are answered here too; only the first of such answers is
		// ours, that to attach-session.
		if !ours && attached {
			continue
		}
		attached = true
		select {
		case c.answers <- a:
		case <-c.ended:
			return
		}
	}
}

// readAnswer reads up to the end of the next answer and passes over notifications. Lines
// of an answer may look like anything, so it ends only with the guard that it began with.
func readAnswer(r *bufio.Reader) (a answer, ours bool, err error) {
	guard := ""
	for guard == "" {
		line, err := readLine(r)
		if err != nil {
			return answer{}, false, err
		}
		guard, _ = strings.CutPrefix(line, "%begin ")
		if guard == line {
			guard = ""
		}
	}
	for {
		line, err := readLine(r)
		switch {
		case err != nil:
			return answer{}, false, err
		case line == "%end "+guard, line == "%error "+guard:
			a.failed = strings.HasPrefix(line, "%error")
			return a, strings.HasSuffix(guard, " 1"), nil
		}
		a.lines = append(a.lines, line)
	}
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// next waits for an answer.
func (c *Control) next(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.patience, fmt.Errorf("tmux: no answer in %v", c.patience))
	defer cancel()
	select {
	case a, ok := <-c.answers:
		if !ok {
			return answer{}, ErrClosed
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
}

// Run gives the lines that a command prints. The arguments reach the command as they
// are; none of them separates two commands.
func (c *Control) Run(args ...string) (lines []string, err error) {
	line, err := commandLine(args)
	if err != nil {
		return nil, err
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	select {
	case <-c.ended:
		return nil, ErrClosed
	default:
	}
	if _, err := io.WriteString(c.input, line); err != nil {
		return nil, ErrClosed
	}
	a, err := c.next(context.Background())
	if err != nil {
		c.end() // a late answer would be taken for that to the next command
		return nil, err
	}
	if a.failed {
		return nil, &Error{Command: args[0], Message: plain.Line(strings.Join(a.lines, " "))}
	}
	return a.lines, nil
}

// commandLine writes a command as tmux reads it. Nothing has a meaning within single
// quotes, and a newline, which would end the line, has a name within double ones.
func commandLine(args []string) (string, error) {
	const longest = 32 << 10 // fits into the pipe, so that writing it never waits
	if len(args) == 0 {
		return "", errors.New("no tmux command") // an empty line would end the client
	}
	var b strings.Builder
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return "", errors.New("a tmux command cannot hold the character NUL")
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("'" + strings.NewReplacer("'", `'\''`, "\n", `'"\n"'`).Replace(arg) + "'")
	}
	if b.Len() > longest {
		return "", fmt.Errorf("tmux %s: more than %d bytes", args[0], longest)
	}
	return b.String() + "\n", nil
}

// Close ends the client, and waits for that. The server and its sessions go on.
func (c *Control) Close() error {
	c.end()
	return nil
}
