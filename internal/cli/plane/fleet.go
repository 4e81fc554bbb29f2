package plane

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
where there is room. Each machine keeps its own work: nothing of it stops when the others are away.

One machine, or three, run a hub: a server of NATS inside of stopgated, with TLS and a key for each
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
		Short: "Make a fleet with this machine as its first member",
		Long: `Make a fleet, with this machine as its first member and hub. Its certificate authority stays here:
further hubs can join only while this machine is up.

With one hub the fleet is not highly available. With three --hub addresses, the first one this machine's,
it may lose one of them; it can be used when all three have joined. The number of hubs and their
addresses cannot be changed later.

With --nats, an existing NATS cluster is used instead of hubs, and its administrator says who may do what.

Exit code 0: done. 1: this machine is in a fleet already, or an agent's shell. 2: usage error. 3: the hub
or the cluster does not answer.`,
		Example: `  stopgate fleet init home
  stopgate fleet init home --hub 10.0.0.1 --hub 10.0.0.2 --hub 10.0.0.3
  stopgate fleet init home --nats tls://nats.example.org --creds home.creds`,
		Args: term.OneArg,
	})
	flags := cmd.Flags()
	flags.StringArray("hub", nil, "the `ADDRESS[:PORT]` at which a hub is reached; one or three times (default: this machine's address, port 47422)")
	flags.String("name", "", "what this machine is called (default: its host name)")
	flags.String("user", "", "whose machine this is (default: your user name)")
	flags.String("nats", "", "the `URL` of an existing NATS cluster")
	flags.String("creds", "", "the `file` with credentials of that cluster, or with the seed of an nkey")
	flags.Int("replicas", 0, "how many of that cluster's servers keep everything (default: 3, or what it can)")
	return cmd
}

func newFleetInvite() *cobra.Command {
	cmd := changesFleet("invite a machine", false, &cobra.Command{
		Use:   "invite",
		Short: "Make a token by which one machine can join",
		Long: `Make a token by which one machine can join within one hour, and print the command to type there. Run
it on a machine that has a hub: the other machine joins at that one. Machines of one user may do
everything with each other; what others may do is in each machine's own configuration, under
fleet.allow.

Exit code 0: done. 1: this machine has no hub, or this is an agent's shell. 2: usage error.`,
		Example: `  stopgate fleet invite
  stopgate fleet invite --user anna
  stopgate fleet invite --hub`,
		Args: term.NoArgs,
	})
	cmd.Flags().String("user", "", "whose machine it is (default: yours)")
	cmd.Flags().Bool("hub", false, "the machine is the next hub; on the machine that made the fleet")
	return cmd
}

func newFleetJoin() *cobra.Command {
	cmd := changesFleet("join a fleet", true, &cobra.Command{
		Use:   "join TOKEN",
		Short: "Join a fleet",
		Long: `Join the fleet that the token is for. This machine makes its own keys; only the public ones leave it.
A join that was cut off can be repeated with the same token.

Other machines of the same user can then start, answer and cancel things here.

Exit code 0: done. 1: the hub refuses, this machine is in a fleet already, or this is an agent's shell.
2: the token is incomplete, or a usage error. 3: the hub does not answer.`,
		Example: `  stopgate fleet join sgfleet1-…
  stopgate fleet join sgfleet1-… --name build-7`,
		Args: term.OneArg,
	})
	cmd.Flags().String("name", "", "what this machine is called (default: its host name)")
	cmd.Flags().String("creds", "", "the `file` with credentials of the NATS cluster that the fleet uses")
	return cmd
}

func newFleetLeave() *cobra.Command {
	return changesFleet("leave a fleet", false, &cobra.Command{
		Use:   "leave [MEMBER]",
		Short: "Take this machine, or another one, out of the fleet",
		Long: `Take this machine out of its fleet; a hub that it runs ends. Its own pipelines and agents go on. On the
machine that made the fleet, MEMBER takes another one out, also one that is lost: the hubs refuse it at
once. It asks first, unless you pass --yes; what cannot be done is refused before.

The machine that made the fleet leaves only with --yes, also at a terminal: with one hub the fleet ends for
all, and with three no further hub can join and no machine can be taken out.

Exit code 0: done. 1: not confirmed, this machine made the fleet (then pass --yes), the hubs refuse or cannot
write it down, or this is an agent's shell. 2: usage error.`,
		Example: `  stopgate fleet leave
  stopgate fleet leave old-laptop`,
		Args: term.AtMostOneArg,
	})
}

func newFleetStatus() *cobra.Command {
	return handsOver(&cobra.Command{
		Use:   "status",
		Short: "Show the fleet's machines and hubs",
		Long: `Show all machines of the fleet, when each reported last, for how many more jobs it has room, and how the
hubs are. Where the hubs cannot be asked, the machines are shown as they reported here last.

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
		Long: `Check this machine's part of the fleet: its files and keys, its hub, whether each hub is reached and is
the fleet's own, clocks, versions, permissions, quorum, and how the streams are kept. Each finding says
what to do.

Exit code 0: all is well, or there are only warnings. 1: otherwise, also while the fleet is being set up.
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
		p, err := newPlane(cmd)
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
	cmd.ValidArgsFunction = cobra.NoFileCompletions
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
