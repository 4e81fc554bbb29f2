package gates

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// show runs the gates in the manner that suits whoever looks: in place on a
// terminal, line by line elsewhere, or not at all.
func (o *runOptions) show(cmd *cobra.Command, h *here.Place, options gauntlet.Options) gauntlet.Result {
	ctx, stop := untilEnded(cmd.Context())
	defer stop()
	out := cmd.OutOrStdout()
	if o.asJSON {
		result := gauntlet.Execute(ctx, options)
		_ = term.PrintJSON(out, result) // whoever reads it is gone; the exit code still tells
		return result
	}
	if file, ok := term.IsScreen(out); ok {
		view := term.NewScreen(file)
		result := watched(ctx, view, term.PaintFor(out), options, gauntlet.Execute)
		if result.Err == nil { // else it is the caller's to tell
			width, _ := view.Size()
			summary{out: out, paint: term.PaintFor(out), short: h.Short, width: width}.print(&result)
		}
		return result
	}
	options.Console = out
	result := gauntlet.Execute(ctx, options)
	if result.Err != nil {
		return result
	}
	if result.Status.CouldNotRun() && result.ConsoleLogPath == "" {
		out = cmd.ErrOrStderr() // it ended before there was a console to print to
		fmt.Fprintln(out, "stopgate: "+plain.Line(result.Message))
	}
	summary{out: out, paint: term.PaintFor(out), short: h.Short}.follow(&result)
	return result
}

// watched runs the gates under a live view, which is gone when it returns, or
// panics.
func watched(ctx context.Context, s *term.Screen, p term.Paint, options gauntlet.Options, execute func(context.Context, gauntlet.Options) gauntlet.Result) gauntlet.Result {
	view := startLive(ctx, s, p, time.Now)
	defer view.close()
	options.Watch = view.watch
	return execute(ctx, options)
}
