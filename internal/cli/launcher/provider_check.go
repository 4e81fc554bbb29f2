package launcher

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/harness/endpoint"
	"github.com/stopgate/stopgate/internal/harness/launch"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

func newProviderCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Check that providers accept your key",
		Long: `Send one short request to each provider, or to those that you name, with the provider's own
key: all at once, for at most eight seconds.

  valid        it answered, or only limits the rate
  rejected     it does not accept the key or the model, or something is missing
  unreachable  no answer, or one that says nothing about the key
  login        it has neither endpoint nor key: Claude Code uses its own login

Exit code 0: none is rejected or unreachable. 1: one is rejected. 2: unknown provider, or invalid
ccc.json. 3: none is rejected, but one could not be reached.`,
		Example: `  stopgate provider check
  stopgate provider check glm kimi
  stopgate provider check --json | jq '.[] | select(.verdict != "valid")'`,
		RunE: func(cmd *cobra.Command, names []string) error { return showChecks(cmd, names, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	term.CompleteArgs(cmd, math.MaxInt, providerNames)
	return cmd
}

// showChecks asks the named providers, or all, and shows their answers.
func showChecks(cmd *cobra.Command, names []string, asJSON bool) error {
	env := os.Environ()
	checks, err := checksFor(names, env)
	if err != nil {
		return err
	}
	if err := checks.ask(cmd, env, asJSON); err != nil {
		return err
	}
	return term.Show(cmd.OutOrStdout(), asJSON, checks)
}

// providerCheck is what check shows of one provider.
type providerCheck struct {
	endpoint.Answer
	Endpoint string `json:"endpoint"`
	target   endpoint.Target
}

type providerChecks []*providerCheck

// checksFor prepares to ask the named providers, or all, in the order of their
// names. One that is not fit to be asked has its answer already.
func checksFor(names, env []string) (providerChecks, error) {
	config, err := loadProviders()
	if err != nil {
		return nil, forLaunch(err)
	}

	if len(names) == 0 {
		names = config.Names()
	}
	if len(names) == 0 {
		_, err := config.Choose("")
		return nil, forLaunch(err)
	}

	for _, name := range names {
		if name == "" {
			return nil, term.BadUsage(errors.New("the provider's name is empty"), "see: stopgate provider list")
		}
		if _, err := config.Choose(name); err != nil {
			return nil, forLaunch(err)
		}
	}

	checks := providerChecks{}
	for _, name := range config.Names() {
		if slices.Contains(names, name) {
			checks = append(checks, checkFor(config, name, env))
		}
	}
	return checks, nil
}

func checkFor(config *launch.Config, name string, env []string) *providerCheck {
	c := &providerCheck{Answer: endpoint.Answer{Name: name}}
	variables, err := config.ClaudeEnviron(name, env)
	if err == nil {
		c.target = endpoint.TargetOf(name, variables)
		if c.target.UsesLogin() {
			c.Verdict, c.Detail = endpoint.Login, "Claude Code's own login, which is not checked"
			return c
		}
		c.Endpoint = c.target.Endpoint()
		err = c.target.Fault()
	}
	if err != nil {
		c.Verdict, c.Detail = endpoint.Rejected, c.target.Line(err.Error())
	}
	return c
}

// ask has stopgated ask the providers that have no answer yet. It tells their keys
// to nobody else: they go through a pipe.
func (l providerChecks) ask(cmd *cobra.Command, env []string, quiet bool) error {
	targets := l.open()
	if len(targets) == 0 {
		return nil
	}

	program, err := here.FindProgram("stopgated", env)
	if err != nil {
		return err
	}
	stdin, err := json.Marshal(targets)
	if err != nil {
		return err
	}

	// Not by SIGPIPE: it would also tell of a stopgated that dies before it has read.
	ctx, stop := term.UntilSignal(cmd)
	defer stop()

	progress := func() {}
	if file, ok := term.IsScreen(cmd.OutOrStdout()); ok && !quiet {
		s := term.NewScreen(file)
		progress = func() { s.Draw([]string{l.progress()}) }
		defer s.Draw(nil)
	}

	progress()
	result := process.Run(ctx, process.Command{
		Args:    []string{program, "provider-check"},
		Env:     env,
		Stdin:   stdin,
		Timeout: 20 * time.Second, // it has a limit of its own, which is shorter
		Lines:   1,
		Stdout: &answerLines{take: func(a endpoint.Answer) {
			l.take(a)
			progress()
		}},
	})

	if ctx.Err() != nil {
		return term.Interrupted()
	}
	l.giveUp(result)
	return nil
}

// open are the targets without an answer.
func (l providerChecks) open() []endpoint.Target {
	var targets []endpoint.Target
	for _, c := range l {
		if c.Verdict == "" {
			targets = append(targets, c.target)
		}
	}
	return targets
}

func (l providerChecks) progress() string {
	text := "checking " + plain.Count(len(l), "provider") + "…"
	if answered := len(l) - len(l.open()); answered > 0 {
		text += fmt.Sprintf(" %d answered", answered)
	}
	return text
}

// take notes an answer. One that we did not ask for, or do not understand, is none.
func (l providerChecks) take(a endpoint.Answer) {
	known := a.Verdict == endpoint.Valid || a.Verdict == endpoint.Rejected || a.Verdict == endpoint.Unreachable
	for _, c := range l {
		if known && c.Name == a.Name && c.Verdict == "" {
			a.Detail = c.target.Line(a.Detail)
			c.Answer = a
		}
	}
}

// giveUp answers for those that stopgated gave no answer about.
func (l providerChecks) giveUp(result process.Result) {
	for _, c := range l {
		if c.Verdict != "" {
			continue
		}
		detail := "stopgated gave no answer (" + result.String() + ")"
		if result.Tail != "" {
			detail += ": " + strings.TrimPrefix(result.Tail, "[…]\n")
		}
		c.Verdict, c.Detail = endpoint.Unreachable, c.target.Line(detail)
	}
}

// Failure is how the command ends: by the worst that was answered.
func (l providerChecks) Failure() (err error) {
	for _, c := range l {
		switch c.Verdict {
		case endpoint.Rejected:
			return term.WithCode(nil, term.ExitFailed)
		case endpoint.Unreachable:
			err = term.WithCode(nil, term.ExitCouldNotRun)
		}
	}
	return err
}

// Print implements term.View.
func (l providerChecks) Print(out io.Writer) {
	p := term.PaintFor(out)
	names, places := 0, 0
	for _, c := range l {
		names, places = max(names, term.Cells(launch.Shown(c.Name))), max(places, term.Cells(c.place()))
	}
	for _, c := range l {
		mark := p.Yellow("!")
		switch c.Verdict {
		case endpoint.Valid, endpoint.Login:
			mark = p.Green("✓")
		case endpoint.Rejected:
			mark = p.Red("✗")
		}
		row := fmt.Sprintf("%s  %-11s  %s  %s", term.Pad(launch.Shown(c.Name), names), c.Verdict, term.Pad(c.place(), places), plain.Line(c.Detail))
		fmt.Fprintln(out, mark+" "+strings.TrimRight(row, " "))
	}
}

// place is the endpoint, where there is one.
func (c *providerCheck) place() string { return cmp.Or(c.Endpoint, "-") }

// answerLines takes answers as stopgated prints them, one per line.
type answerLines struct {
	take func(endpoint.Answer)
	rest []byte // the beginning of a line
}

// longestAnswer is more than a line of stopgated ever has.
const longestAnswer = 64 << 10

func (w *answerLines) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			break
		}
		w.rest = rest
		var a endpoint.Answer
		if json.Unmarshal(line, &a) == nil {
			w.take(a)
		}
	}
	if len(w.rest) > longestAnswer {
		w.rest = nil
	}
	return len(p), nil
}
