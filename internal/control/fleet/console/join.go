package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
)

func newJoin(c *command) func(context.Context, []string) error {
	name := c.flags.String("name", "", "")
	creds := c.flags.String("creds", "", "")
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usage("fleet join needs one token: run stopgate fleet invite on a hub, and copy what it prints")
		}
		token, err := member.ParseToken(args[0])
		if err != nil {
			return codeError{err, exitUsage, "run stopgate fleet invite on a hub, and copy what it prints"}
		}
		if *name == "" {
			if *name, err = thisHost(); err != nil {
				return codeError{err, exitUsage, ""}
			}
		}
		if err := link.CheckName(*name); err != nil {
			return codeError{err, exitUsage, ""}
		}
		return c.join(ctx, token, *name, *creds)
	}
}

func (c *command) join(ctx context.Context, token member.Token, name, creds string) error {
	if _, err := member.Load(c.stateDir); errors.Is(err, member.ErrNone) && token.Runs {
		if err := c.canRun(ctx, token.At); err != nil {
			return err
		}
	}

	id, err := c.enter(ctx, token, name, creds)
	if in := (*member.InFleetError)(nil); errors.As(err, &in) {
		return withHint(err, "to leave it: stopgate fleet leave")
	}
	if err != nil {
		return unanswered(token, err)
	}

	if id.Hub > 0 {
		if err := c.keeper().Start(); err != nil {
			return err
		}
		if err := c.awaitHub(ctx, id); err != nil {
			return err
		}
	}

	var b strings.Builder
	fmt.Fprintf(&b, "this machine is now %s in the fleet %s, for the user %s", id.Name, id.Fleet, id.User)
	if own, runs := id.Own(); runs {
		fmt.Fprintf(&b, ", and a hub at %s", own.Address())
	}
	b.WriteString("\n\nSee all machines with: stopgate fleet status\n")
	return c.show(id, b.String())
}

// unanswered is the error of a join, with what helps where the hub does not answer.
func unanswered(token member.Token, err error) error {
	if silent := (*member.SilentHubError)(nil); !errors.As(err, &silent) && !errors.Is(err, member.ErrNoAnswer) {
		return err
	}
	hint := "a token is good at the hub that made it: if the fleet has others, run stopgate fleet invite on one of them"
	if token.Runs {
		hint = "hubs join at the machine that made the fleet: start it, and join again"
	}
	return codeError{err, exitCouldNotRun, hint}
}

// canRun refuses a hub's token on a machine that cannot run that hub, before anything is written or asked: the
// fleet would wait for a hub that others never reach.
func (c *command) canRun(ctx context.Context, own member.Hub) error {
	if err := hub.CheckPlace(ctx, own); err != nil {
		return withHint(fmt.Errorf("nothing was changed: %w", err), fmt.Sprintf("run it on the machine that the others reach at %s; if that address is forwarded to this one, set STOPGATE_HUB_LISTEN=0.0.0.0, also for the daemon", own.Host))
	}
	if err := hub.CheckPorts(own, true); err != nil {
		return codeError{fmt.Errorf("nothing was changed: %w", err), exitCouldNotRun, fmt.Sprintf("a hub needs the ports %d and %d: end the program that has them, and join again", own.Port, own.Port+1)}
	}
	return nil
}

func (c *command) enter(ctx context.Context, token member.Token, name, creds string) (id member.Identity, err error) {
	if token.NATS == "" {
		if creds != "" {
			return id, usage("--creds is for a fleet on an existing NATS cluster, and this token is not")
		}
		return member.Join(ctx, c.stateDir, token, name)
	}

	if creds == "" {
		return id, codeError{fmt.Errorf("the fleet %s is on the NATS cluster %s, which needs credentials", token.Fleet, token.NATS), exitUsage, "give the file with --creds FILE"}
	}
	if now, err := member.Load(c.stateDir); err == nil {
		return id, &member.InFleetError{Identity: now, Wanted: token.Fleet}
	}

	id = member.Identity{Fleet: token.Fleet, Name: name, User: token.User, NATS: token.NATS}
	if id.Key, err = member.MakeKey(c.stateDir); err != nil {
		return id, err
	}
	if err := member.SaveCredentials(c.stateDir, creds); err != nil {
		return id, codeError{err, exitUsage, ""}
	}
	if err := id.Enroll(ctx, c.stateDir, c.now()); errors.Is(err, member.ErrTaken) {
		return id, err
	} else if err != nil {
		return id, codeError{err, exitCouldNotRun, "the credentials need the permissions that stopgate fleet init printed"}
	}
	return id, id.Save(c.stateDir)
}
