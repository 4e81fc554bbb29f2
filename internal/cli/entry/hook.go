// Package entry answers Claude Code's hooks, before the command tree is built: Claude Code waits.
package entry

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/deny"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/guard"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/lifecycle"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/stop"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// Answer answers a hook, if the command line is one.
func Answer(args []string) (code int, isHook bool) {
	if isForeignCall(args) {
		return term.ExitOK, true
	}
	if call, is := parseHookCall(args); is {
		return call.run(), true
	}
	if isCall(args, "statusline") {
		return statusLine(), true
	}
	if isCall(args, "stop-hook") {
		return stopHook(), true
	}
	if isCall(args, "supervisor-hook") {
		return supervisorHook(), true
	}
	if agent, is := agentHookCall(args); is {
		return agentHook(agent), true
	}
	return 0, false
}

// NewHook documents the command; Answer runs it before the tree is built.
func NewHook() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook [EVENT]",
		Short: "Answer a Claude Code hook (payload on stdin, answer on stdout)",
		Long: `Answer one hook call of Claude Code. The payload is read from standard input; the
answer is one JSON object on standard output, or nothing.

Exit code 0: answered. 1: the payload is invalid, nothing was checked. For other programs,
which may treat an error as a denial, it is always 0.`,
		Example: `  stopgate hook Stop < payload.json
  stopgate hook < payload.json      the event is the payload's hook_event_name`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return term.WithHint(fmt.Errorf("hook takes one event, got %q", args), "usage: "+cmd.UseLine())
		},
	}
	cmd.Flags().Duration("timeout", 0, "timeout of the caller; the answer comes earlier")
	cmd.Flags().String("for", "", "the calling program; only claude is supported")
	return cmd
}

func (c hookCall) run() int {
	if c.harness != "" && c.harness != claudeCode {
		fmt.Fprintf(os.Stderr, "stopgate: --for %s is not supported by this version; nothing was checked\n", plain.Line(c.harness))
		return term.ExitOK
	}
	service, err := newService()
	if err != nil {
		return c.refuse("stopgate: " + err.Error())
	}
	service.HookTimeout = c.timeout
	// Entries of settings files that are called for one event differ in their lines; one of a plugin need not.
	service.Caller = strings.Join(append(slices.Clone(os.Args), claude.PluginRoot(os.Environ())), "\x00")
	reply := service.Handle(context.Background(), c.event, os.Stdin)
	if reply.Code != term.ExitOK {
		return c.refuse(reply.Stderr)
	}
	if reply.Stderr != "" {
		fmt.Fprintln(os.Stderr, term.Tame(reply.Stderr))
	}
	if len(reply.Stdout) > 0 {
		_, _ = os.Stdout.Write(reply.Stdout) // a client that is gone needs no answer
	}
	return term.ExitOK
}

// ownEnvironment takes back what the project's settings have set of the variables that
// stopgate itself goes by, and names them.
func ownEnvironment() (names []string) {
	for name, value := range claude.Imposed(os.Environ()) {
		names = append(names, name)
		if value == nil {
			os.Unsetenv(name)
		} else {
			os.Setenv(name, *value)
		}
	}
	slices.Sort(names)
	return names
}

// refuse says why there is no answer. Claude Code shows that to the person and goes on; other
// programs that run our installed entry would deny a tool call for it.
func (c hookCall) refuse(why string) int {
	fmt.Fprintln(os.Stderr, term.Tame(why))
	if environ.ForeignAgent(os.Environ()) || c.timeout > 0 && os.Getenv("CLAUDECODE") == "" {
		return term.ExitOK
	}
	return term.ExitFailed
}

// signalProgram is by which agents signal.
func signalProgram() string {
	self, err := program.Stopgate()
	if err != nil {
		return "stopgate"
	}
	return lifecycle.SignalProgram(self, os.Environ())
}

// newService answers a hook call, whatever its name, with the environment that the person gave the
// client.
func newService() (*stop.Service, error) {
	imposed := ownEnvironment()
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	global, _ := paths.GlobalConfig() // without a home there is none

	reviews := &supervisor.Keeper{StateDir: state, Now: time.Now, Stderr: os.Stderr}
	agents := &lifecycle.Keeper{
		StateDir: state, Now: time.Now, Stderr: os.Stderr,
		Daemon:  func() *daemonapi.Client { return daemonapi.At(state) },
		Program: signalProgram,
		Parent:  os.Getppid,
	}

	return &stop.Service{
		StateDir:     state,
		GlobalConfig: global,
		Keepers: []keeper.Keeper{
			deny.Keeper{},
			guard.Guard{},
			gauntlet.Keeper{StateDir: state, Now: time.Now, Log: term.LogToStderr},
			protect.Keeper{StateDir: state, Now: time.Now, Log: term.LogToStderr},
			reviews,
			agents,
		},
		Supervisor: reviews,
		Lifecycle:  agents,
		Driver:     driver.InHook(state, global, term.LogToStderr),
		Imposed:    imposed,
		Environ:    os.Environ(),
		Now:        time.Now,
		Stderr:     os.Stderr,
	}, nil
}
