package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

func newInvite(c *command) func(context.Context, []string) error {
	user := c.flags.String("user", "", "")
	runs := c.flags.Bool("hub", false, "")
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return usage("fleet invite takes no argument: the other machine chooses its name")
		}
		return c.invite(ctx, *user, *runs)
	}
}

// invitation is what fleet invite prints as JSON.
type invitation struct {
	Token   string `json:"token"`
	Command string `json:"command"`
	User    string `json:"user"`
	Hub     string `json:"hub,omitempty"` // the address of the machine that the token is for
	// Replaced means that an earlier token for that hub is void now.
	Replaced bool       `json:"replaced,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
}

func (c *command) invite(ctx context.Context, user string, runs bool) error {
	id, err := member.Load(c.stateDir)
	if err != nil {
		return c.noFleet(err)
	}
	if user == "" {
		user = id.User
	}
	if err := member.CheckUser(user); err != nil {
		return codeError{err, exitUsage, ""}
	}
	if id.NATS != "" {
		return c.inviteNATS(id, user, runs)
	}

	now := c.now()
	token, replaced, err := hub.Invite(ctx, c.stateDir, user, runs, now)
	switch {
	case errors.Is(err, hub.ErrNotHub):
		return withHint(fmt.Errorf("%w, and invitations are made on one", err), "run it on a machine that stopgate fleet status shows as a hub")
	case errors.Is(err, hub.ErrNotFounder):
		return withHint(err, "run it on the machine where you ran stopgate fleet init")
	case err != nil:
		return err
	}

	expires := now.Add(hub.Valid)
	v := invitation{Token: token.String(), User: user, Expires: &expires}
	v.Command = "stopgate fleet join " + v.Token

	text := fmt.Sprintf("On the other machine, before %s, once stopgate is installed:\n\n  %s\n\nThe token is for one machine of %s. Another person who has it can join in its place: send it as you send a password.\n", expires.Local().Format("15:04"), v.Command, user)
	if runs {
		v.Hub = token.At.Address()
		text = fmt.Sprintf("On the machine with the address %s, before %s, once stopgate is installed:\n\n  %s\n\nThe token makes that machine a hub. Another person who has it can join in its place: send it as you send a password.\n", token.At.Host, expires.Local().Format("15:04"), v.Command)
	}
	if replaced {
		text += fmt.Sprintf("It replaces the token that was made before for the hub at %s, which is void now.\n", v.Hub)
	}
	v.Replaced = replaced

	if !hub.Runs(c.stateDir) {
		fmt.Fprintln(c.errOut, "stopgate: the hub of this machine does not run, so the other one cannot join now: stopgate daemon start")
	}
	return c.show(v, text)
}

// inviteNATS makes a token for a fleet without hubs. It holds no secret.
func (c *command) inviteNATS(id member.Identity, user string, runs bool) error {
	if runs {
		return usage("this fleet uses the NATS cluster %s: it has no hubs", id.NATS)
	}
	v := invitation{Token: member.Token{Fleet: id.Fleet, NATS: id.NATS, User: user}.String(), User: user}
	v.Command = "stopgate fleet join " + v.Token + " --creds FILE"
	return c.show(v, fmt.Sprintf("On the other machine, once stopgate is installed, with credentials of the cluster %s:\n\n  %s\n", id.NATS, v.Command))
}

// noFleet is the error of a command that needs a fleet.
func (c *command) noFleet(err error) error {
	if errors.Is(err, member.ErrNone) {
		return codeError{err, exitCouldNotRun, member.MakeOrJoin}
	}
	return err
}
