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
	id, err := c.enter(ctx, token, name, creds)
	if in := (*member.InFleetError)(nil); errors.As(err, &in) {
		return withHint(err, "to leave it: stopgate fleet leave")
	}
	if err != nil {
		return err
	}
	if own, runs := id.Own(); runs {
		if err := hub.CheckPorts(own, true); err != nil {
			fmt.Fprintf(c.errOut, "stopgate: %v\n", err)
		}
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
