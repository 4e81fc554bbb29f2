package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/process"
)

const (
	// keepStdout bounds what is read of a reviewer's output. An answer is a few
	// kilobytes; a reviewer that prints more than this before it has lost its way.
	keepStdout = 16 << 20
	// keepRaw is how much of the end of it goes on record, for an agent to read.
	keepRaw = 64 << 10
)

// ask has one reviewer look at the change. One that gives no answer may have cost something, too.
func (p *panel) ask(ctx context.Context, slot int, s seat) (answer Answer, raw string, spent event.Cost, err error) {
	command := process.Command{
		Args:       append([]string{s.path}, s.args(p.place(), s.model)...),
		Dir:        p.Root,
		Env:        p.env,
		Stdin:      p.prompted,
		Timeout:    p.patience(ctx),
		KeepStdout: keepStdout,
	}
	if log := p.log(slot, s.name); log != nil {
		defer log.Close()
		command.Output = log
	}

	result := process.Run(ctx, command)
	text, err := s.reply(result)
	if err == nil {
		answer, err = ParseAnswer(p.Gate, text, p.Previous)
	} else {
		text = result.Stdout
	}
	if err != nil {
		err = p.why(s, result, err)
	}
	timedOut := result.TimedOut && p.Review.Timeout == 0 || result.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded)
	if err != nil && timedOut && !errors.Is(err, errQuota) {
		err = noTime{err}
	}

	if s.spent != nil {
		spent = s.spent(result.Stdout)
	}
	return answer, ending(text, keepRaw), spent, err
}

// errQuota is what a reviewer says whose account is used up.
var errQuota = errors.New("out of quota")

// errNoTime is why a reviewer was ended whose review has no timeout of its own: the run needs what is left of its time.
var errNoTime = errors.New("the time of the run is nearly over")

// noTime is an error that came of that.
type noTime struct{ error }

func (noTime) Is(target error) bool { return target == errNoTime }

// patience is how long one reviewer may take. Half of what is left of the run goes to each,
// so that there is time for the next where one hangs.
func (p *panel) patience(ctx context.Context) time.Duration {
	if p.Review.Timeout > 0 {
		return p.Review.Timeout
	}
	end, limited := ctx.Deadline()
	if !limited {
		return 0
	}
	return max(time.Until(end)/2, time.Second)
}

func (p *panel) log(slot int, adapter string) io.WriteCloser {
	if p.Log == nil {
		return nil
	}
	return p.Log(slot, adapter)
}

// why looks for a quota behind what a reviewer said instead of an answer, and
// remembers it. Else the reason is err.
func (p *panel) why(s seat, result process.Result, err error) error {
	line, limited := saysLimit(s.complaint(result), p.prompted)
	if !limited {
		return err
	}
	err = fmt.Errorf("%w: %s", errQuota, line)
	if failed := p.quotas.usedUp(s.name, p.Now()); failed != nil {
		return fmt.Errorf("%w (and this could not be recorded: %w)", err, failed)
	}
	return err
}

// reply is what the model said, if the program ended well.
func (a adapter) reply(result process.Result) ([]byte, error) {
	text, err := a.words(result.Stdout)
	if err != nil || result.OK() {
		return text, err
	}
	if said := lastLine(result.Tail); said != "" && result.Ran() && !result.TimedOut {
		return nil, fmt.Errorf("%s: %s", result, said)
	}
	return nil, errors.New(result.String())
}

// complaint is all that a program said that gave no answer: the error that it
// names itself, or everything.
func (a adapter) complaint(result process.Result) string {
	if _, err := a.words(result.Stdout); err != nil {
		return err.Error()
	}
	return string(result.Stdout) + "\n" + result.Tail
}

// lastLine is where programs say what went wrong.
func lastLine(tail string) string {
	return clip(printable(tail[strings.LastIndexByte(tail, '\n')+1:]), 300)
}

// ending is the end of what was printed, valid UTF-8.
func ending(text []byte, limit int) string {
	return strings.ToValidUTF8(string(text[max(0, len(text)-limit):]), "\uFFFD")
}
