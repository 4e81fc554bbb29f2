package daemon

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/trust"
)

// NewFleet has the commands for several machines.
func NewFleet() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "fleet",
		Short: "Connect several machines: one inbox, shared jobs",
		Long: `Connect several machines, so that each shows the pipelines, agents and decisions of all, and jobs run
where there is room. Each machine keeps its own work: none of it stops when the others are offline.

One machine, or three, run a hub: a NATS server inside stopgated, with TLS and a key for each
member. An existing NATS cluster can be used instead.`,
		Example: `  stopgate fleet init home
  stopgate fleet invite
  stopgate fleet join TOKEN
  stopgate fleet status`,
	}, newFleetInit(), newFleetInvite(), newFleetJoin(), newFleetLeave(), newFleetStatus(), newFleetDoctor())
}

func newFleetInit() *cobra.Command {
	cmd := changesFleet("make a fleet", true, &cobra.Command{
		Use:   "init NAME",
		Short: "Create a fleet with this machine as its first member",
		Long: `Create a fleet, with this machine as its first member and hub. Its certificate authority stays here:
further hubs can join only while this machine is up.

With one hub the fleet is not highly available. With three --hub addresses, the first one this machine's,
it may lose one of them; it can be used when all three have joined. The number of hubs and their
addresses cannot be changed later.

With --nats, an existing NATS cluster is used instead of hubs, and its administrator says who may do what.

Exit code 0: done. 1: this machine is already in a fleet, or this is an agent's shell. 2: usage error. 3: the hub
or the cluster does not answer.`,
		Example: `  stopgate fleet init home
  stopgate fleet init home --hub 10.0.0.1 --hub 10.0.0.2 --hub 10.0.0.3
  stopgate fleet init home --nats tls://nats.example.org --creds home.creds`,
		Args: term.OneArg,
	})
	flags := cmd.Flags()
	flags.StringArray("hub", nil, "`ADDRESS[:PORT]` of a hub; one or three times (default: this machine's address, port 47422)")
	flags.String("name", "", "the name of this machine (default: its host name)")
	flags.String("user", "", "whose machine this is (default: your user name)")
	flags.String("nats", "", "the `URL` of an existing NATS cluster")
	flags.String("creds", "", "the `file` with the credentials for that cluster, or with the seed of an nkey")
	flags.Int("replicas", 0, "how many servers of that cluster keep everything (default: 3, or 1 in a cluster with fewer)")
	return cmd
}

func newFleetInvite() *cobra.Command {
	cmd := changesFleet("invite a machine", false, &cobra.Command{
		Use:   "invite",
		Short: "Create a token for one machine to join",
		Long: `Create a token for one machine to join within one hour, and print the command to type there. Run
it on a machine that has a hub: the other machine joins through it. Machines of one user may do
everything on each other; what other users may do is set in each machine's own configuration, under
fleet.allow.

Exit code 0: done. 1: this machine has no hub, or this is an agent's shell. 2: usage error.`,
		Example: `  stopgate fleet invite
  stopgate fleet invite --user anna
  stopgate fleet invite --hub`,
		Args: term.NoArgs,
	})
	cmd.Flags().String("user", "", "whose machine it is (default: yours)")
	cmd.Flags().Bool("hub", false, "invite the next hub; only on the machine that created the fleet")
	return cmd
}

func newFleetJoin() *cobra.Command {
	cmd := changesFleet("join a fleet", true, &cobra.Command{
		Use:   "join TOKEN",
		Short: "Join a fleet",
		Long: `Join the fleet that the token is for. This machine makes its own keys; only the public ones leave it.
An interrupted join can be repeated with the same token.

Other machines of the same user can then start, answer and cancel things here.

Exit code 0: done. 1: the hub refuses, this machine is already in a fleet, or this is an agent's shell.
2: the token is incomplete, or a usage error. 3: the hub does not answer.`,
		Example: `  stopgate fleet join sgfleet1-…
  stopgate fleet join sgfleet1-… --name build-7`,
		Args: term.OneArg,
	})
	cmd.Flags().String("name", "", "the name of this machine (default: its host name)")
	cmd.Flags().String("creds", "", "the `file` with the credentials for the fleet's NATS cluster")
	return cmd
}

func newFleetLeave() *cobra.Command {
	return changesFleet("leave a fleet", false, &cobra.Command{
		Use:   "leave [MEMBER]",
		Short: "Remove this machine, or another one, from the fleet",
		Long: `Remove this machine from its fleet, and stop its hub if it runs one. Its own pipelines and agents continue.
On the machine that created the fleet, MEMBER removes another machine, even one that is lost: the hubs refuse
it at once. It asks first, unless you pass --yes; what cannot be done is refused before that.

The machine that created the fleet leaves only with --yes, even at a terminal: with one hub the fleet ends for
all, and with three no further hub can join and no machine can be removed.

Exit code 0: done. 1: not confirmed, this machine created the fleet (then pass --yes), the hubs refuse or cannot
record it, or this is an agent's shell. 2: usage error.`,
		Example: `  stopgate fleet leave
  stopgate fleet leave old-laptop`,
		Args: term.AtMostOneArg,
	})
}

func newFleetStatus() *cobra.Command {
	return handsOver(&cobra.Command{
		Use:   "status",
		Short: "Show the fleet's machines and hubs",
		Long: `Show all machines of the fleet, when each last reported, how many more jobs it has room for, and the state
of the hubs. If no hub can be reached, the machines are shown as they last reported here.

Exit code 0: shown. 1: no hub answers. 3: this machine is not in a fleet.`,
		Example: `  stopgate fleet status
  stopgate fleet status --json | jq '.members[] | select(.state != "up")'`,
		Args: term.NoArgs,
	}, "fleet", nil)
}

func newFleetDoctor() *cobra.Command {
	return handsOver(&cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with the fleet",
		Long: `Check this machine's part of the fleet: its files and keys, its hub, whether each hub can be reached and belongs
to the fleet, clocks, versions, permissions, quorum, and the copies of each stream. Each finding says
what to do.

Exit code 0: no problems, or only warnings. 1: problems, also while the fleet is being set up.
3: this machine is not in a fleet.`,
		Example: `  stopgate fleet doctor`,
		Args:    term.NoArgs,
	}, "fleet", nil)
}

// changesFleet makes a command by which a person changes what other machines may do here: an agent cannot run
// it. With a daemon, that is started where it does not run: it starts the hub again, and is the member.
func changesFleet(what string, daemon bool, cmd *cobra.Command) *cobra.Command {
	yes := cmd.Flags().Bool("yes", false, "work without a terminal, and do not ask; for scripts (agents are refused)")
	return handsOver(cmd, "fleet", func(cmd *cobra.Command) error {
		if err := trust.RequirePerson(what, *yes); err != nil || !daemon {
			return err
		}
		p, err := newDaemon(cmd)
		if err != nil {
			return err
		}
		ctx, stop := term.UntilSignal(cmd)
		defer stop()
		_, err = p.wake(ctx)
		return err
	})
}

// handsOver makes a command that stopgated does, with all flags that were given.
func handsOver(cmd *cobra.Command, group string, before func(*cobra.Command) error) *cobra.Command {
	cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		program, err := here.FindProgram("stopgated", os.Environ())
		if err != nil {
			return err
		}
		if before != nil {
			if err := before(cmd); err != nil {
				return err
			}
		}
		words := append([]string{group, cmd.Name()}, given(cmd.Flags())...)
		return become(program, append(append(words, "--"), args...), os.Environ()) // one of them may begin with a dash
	}
	return cmd
}

// given are the flags that were set, as they are written on a command line.
func given(flags *pflag.FlagSet) (words []string) {
	flags.Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				words = append(words, "--"+f.Name+"="+value)
			}
			return
		}
		words = append(words, "--"+f.Name+"="+f.Value.String())
	})
	return words
}
