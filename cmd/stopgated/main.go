//go:build unix

// Command stopgated does what is too heavy for the program that answers hooks.
// stopgate starts it; people seldom do. It needs Unix: on Windows a socket cannot tell which user is
// connected, and there is no tmux.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/stopgate/stopgate/internal/control/fleet/console"
	"github.com/stopgate/stopgate/internal/control/probe"
	"github.com/stopgate/stopgate/internal/control/send"
	"github.com/stopgate/stopgate/internal/control/shell"
	"github.com/stopgate/stopgate/internal/control/top"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

const usage = `usage: stopgated daemon                 run pipelines and agents, until a signal or "stopgate daemon stop"
       stopgated daemon --despite-damage  the same, without what is damaged in the store
       stopgated hub [--background]     be this machine's hub of its fleet, until a signal
       stopgated fleet COMMAND          what stopgate fleet does
       stopgated runbook check|show     check or show a project's runbooks
       stopgated top                    show all agents and pipelines in the terminal
       stopgated store-verify [--json]  check the daemon's store
       stopgated provider-check         read a JSON list of providers, print one result per line
       stopgated command-needs          read command lines as JSON, print the programs each needs
       stopgated wake-send              send the queued messages to agents, then exit
       stopgated version                print the version
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) > 0 && args[0] == "runbook" {
		return runRunbook(args[1:], out, errOut)
	}
	if len(args) > 0 && args[0] == "fleet" {
		return console.Run(context.Background(), args[1:], in, out, errOut)
	}

	var err error
	switch {
	case slices.Equal(args, []string{"daemon"}):
		err = runDaemon(errOut, false)
	case slices.Equal(args, []string{"daemon", "--despite-damage"}):
		err = runDaemon(errOut, true)
	case slices.Equal(args, []string{"hub"}):
		err = runHub(errOut, false)
	case slices.Equal(args, []string{"hub", "--background"}):
		err = runHub(errOut, true)
	case slices.Equal(args, []string{"top"}):
		err = top.Run(context.Background())
	case slices.Equal(args, []string{"store-verify"}):
		return storeVerify(false, out, errOut)
	case slices.Equal(args, []string{"store-verify", "--json"}):
		return storeVerify(true, out, errOut)
	case slices.Equal(args, []string{"provider-check"}):
		err = probe.Prober{UserAgent: "stopgate/" + program.Version()}.Serve(context.Background(), in, out)
	case slices.Equal(args, []string{"command-needs"}):
		err = shell.Serve(in, out)
	case slices.Equal(args, []string{"wake-send"}):
		err = wakeSend()
	case slices.Equal(args, []string{"version"}), slices.Equal(args, []string{"--version"}):
		_, err = fmt.Fprintln(out, "stopgated "+program.Description())
	default:
		fmt.Fprint(errOut, usage)
		return 2
	}

	if err != nil {
		fmt.Fprintf(errOut, "stopgated: %v\n", err)
		return 1
	}
	return 0
}

// wakeSend empties the outbox. A signal ends it early; the next sender goes on where it
// was.
func wakeSend() error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	config, err := paths.GlobalConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return send.Sender{
		StateDir:  state,
		ConfigDir: filepath.Dir(config),
		Environ:   os.Environ(),
		UserAgent: "stopgate/" + program.Version(),
		Type:      driver.Outside(state, config, logToStderr).Type,
	}.Run(ctx)
}

func logToStderr(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "stopgate: "+format+"\n", args...)
}
