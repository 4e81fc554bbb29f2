package gauntlet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/claude"
	"github.com/stopgate/stopgate/internal/gauntlet/check"
	"github.com/stopgate/stopgate/internal/gauntlet/logdir"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/process"
)

// runExternal runs another gauntlet in place of our gates and reads its status
// off its exit code and its output. It takes the run's lock itself, as the older
// tool does, so we must not.
func runExternal(ctx context.Context, o Options, runner []string) Result {
	logs := logdir.At(logPath(o.Project))
	file, n, err := logs.Console()
	if err != nil {
		return unavailable("the log directory cannot be written", err)
	}
	defer file.Close()
	phrases := &phrases{}
	p := process.Run(ctx, process.Command{
		Args:   pinned(runner, o.Project),
		Dir:    o.Project.Root,
		Env:    append(o.Environ[:len(o.Environ):len(o.Environ)], claude.ActiveVariable+"=1"),
		Output: io.MultiWriter(phrases, check.NewLog(file)), // a full disk must not hide what it says
	})
	if !p.Ran() {
		why := p.String()
		if p.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = "did not end in time"
		}
		return unavailable(fmt.Sprintf("the external runner %q %s", runner[0], why), p.Err)
	}
	r := Result{Status: classify(p.OK(), phrases), ConsoleLogPath: file.Name(), Run: n}
	r.Message = messageFor(&r)
	return r
}

// pinned has the runner use the approved copy where an argument is a path below
// .gauntlet.
func pinned(runner []string, project *keeper.Project) []string {
	args := slices.Clone(runner)
	for i, arg := range args {
		for _, prefix := range []string{"", "./", project.Root + "/"} {
			if rest, ok := strings.CutPrefix(arg, prefix+paths.GauntletDir+"/"); ok {
				args[i] = filepath.Join(project.ConfigDir, rest)
			}
		}
	}
	return args
}

// classify follows the order of the specification: the exit code decides, and the
// output only says more about it.
func classify(ok bool, said *phrases) Status {
	switch {
	case ok && said.noGates:
		return NoApplicableGates
	case ok:
		return Passed
	case said.last != "":
		return said.last
	}
	return Failed
}

// phrases looks for a few words in output of any length.
type phrases struct {
	noGates bool
	last    Status // the latest termination condition
	rest    []byte // the end of what came, which may hold the start of a phrase
}

var terminations = []struct {
	words  string
	status Status
}{
	// The longer one first: it begins like the other.
	{"Status: Passed with warnings", TerminationWarnings},
	{"Status: Passed", TerminationPassed},
	{"Status: Retry limit exceeded", TerminationRetryLimit},
}

const longestPhrase = 64

// Write implements io.Writer.
func (p *phrases) Write(data []byte) (int, error) {
	text := append(p.rest, data...)
	p.noGates = p.noGates || bytes.Contains(text, []byte("No applicable gates"))
	p.last = lastTermination(string(text), p.last)
	p.rest = append([]byte(nil), text[max(0, len(text)-longestPhrase):]...)
	return len(data), nil
}

func lastTermination(text string, before Status) Status {
	at := strings.LastIndex(text, "Status: ")
	for at >= 0 {
		for _, t := range terminations {
			if strings.HasPrefix(text[at:], t.words) {
				return t.status
			}
		}
		at = strings.LastIndex(text[:at], "Status: ")
	}
	return before
}
