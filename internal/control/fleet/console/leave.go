package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/question"
)

func newLeave(c *command) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) > 1 {
			return usage("fleet leave takes one member, or none for this machine")
		}
		id, err := member.Load(c.stateDir)
		if err != nil {
			return c.noFleet(err)
		}
		if len(args) == 1 && args[0] != id.Name {
			return c.remove(ctx, id, args[0])
		}
		return c.leave(ctx, id)
	}
}

// left is what fleet leave prints as JSON.
type left struct {
	Fleet  string `json:"fleet"`
	Member string `json:"member"`
	Kept   string `json:"kept,omitempty"` // where the files of this machine's membership are now
	Told   bool   `json:"told"`           // a hub knows of it
}

// remove takes another machine out of the fleet.
func (c *command) remove(ctx context.Context, id member.Identity, name string) error {
	if err := link.CheckName(name); err != nil {
		return codeError{err, exitUsage, ""}
	}
	if err := c.mayRemove(ctx, id, name); err != nil {
		return err
	}
	if err := c.agree(ctx, fmt.Sprintf("Take %s out of the fleet %s?", name, id.Fleet)); err != nil {
		return err
	}
	number, err := c.tell(ctx, id, name)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s is no longer in the fleet %s; the hubs refuse it from now on\n", name, id.Fleet)
	if number > 0 {
		text += fmt.Sprintf("\nIt ran %s, and has a certificate of the fleet: if another person may have that machine, make the fleet again.\n%s", member.HubName(number), replaceHub)
	}
	return c.show(left{Fleet: id.Fleet, Member: name, Told: true}, text)
}

// mayRemove refuses what the hubs would refuse, and says where it can be done.
func (c *command) mayRemove(ctx context.Context, id member.Identity, name string) error {
	if id.NATS != "" || id.Hub == 1 {
		return nil
	}
	records, _ := c.members(ctx, id) // without them its address is known
	made := c.findMaker(id, records)
	if made.left {
		return withHint(fmt.Errorf("%s made the fleet %s and has left it: machines can no longer be removed", made.name, id.Fleet), "make the fleet again: stopgate fleet leave on each machine, then init and join")
	}
	return withHint(fmt.Errorf("nothing was changed: only the machine that made the fleet %s can remove another one", id.Fleet), made.run(id, "stopgate fleet leave "+name))
}

// agree asks whether a machine is to leave.
func (c *command) agree(ctx context.Context, what string) error {
	if c.yes {
		return nil
	}
	answer := make(chan error, 1)
	go func() { // a signal ends the command also while it waits for an answer
		ok, err := question.Asker{In: bufio.NewReader(c.in), Out: c.errOut}.Agreed(what, "no")
		if err == nil && !ok {
			err = errors.New("not confirmed; nothing was changed")
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replaceHub says how a hub that is gone is replaced.
const replaceHub = "A machine at the same address can take its place: stopgate fleet invite --hub, on the machine that made the fleet.\n"

// tell tells the fleet that a member leaves, and returns the number of the hub that it ran.
func (c *command) tell(ctx context.Context, id member.Identity, name string) (hub int, err error) {
	if id.NATS != "" {
		return 0, id.Retire(ctx, c.stateDir, name, c.now())
	}
	for end := c.now().Add(tellPatience); ; {
		hub, again, err := c.tellHubs(ctx, id, name)
		if err == nil || !again || c.now().After(end) || pause.For(ctx, 200*time.Millisecond) != nil {
			return hub, err
		}
	}
}

// tellPatience is how long a member that leaves is told again to hubs that close its connection instead of
// answering: one closes it because the member has left, and another one may not know that yet.
const tellPatience = 10 * time.Second

// tellHubs asks one hub after the other. Again means that the connection broke.
func (c *command) tellHubs(ctx context.Context, id member.Identity, name string) (hub int, again bool, err error) {
	nc, err := member.Connect(ctx, c.stateDir, id, nats.NoReconnect())
	if errors.Is(err, nats.ErrAuthorization) && name == id.Name {
		return 0, false, nil // it has left, or was taken out before
	}
	if err != nil {
		return 0, false, err
	}
	defer nc.Close()

	names := link.Names{Fleet: id.Fleet}
	var all error
	for number := range len(id.Hubs) {
		var answer member.LeaveAnswer
		err := member.Ask(ctx, nc, names.AskHub(member.HubName(number+1), member.VerbLeave, id.Name), member.LeaveRequest{Member: name}, &answer)
		switch {
		case err == nil && answer.Error == "":
			return answer.Hub, false, nil
		case err == nil:
			return 0, false, errors.New(answer.Error)
		case nc.IsClosed():
			return 0, true, errors.New("the connection to the hub broke")
		}
		all = errors.Join(all, err)
	}
	return 0, false, all
}

// leave takes this machine out of the fleet. That succeeds also where no hub can be told: a fleet whose hubs
// are gone for good must not hold a machine.
func (c *command) leave(ctx context.Context, id member.Identity) error {
	if len(id.Hubs) == 1 && id.Hub == 1 && !c.yes {
		return withHint(fmt.Errorf("this machine runs the only hub of the fleet %s: without it the fleet ends for all", id.Fleet), "if that is what you want: stopgate fleet leave --yes")
	}
	if len(id.Hubs) > 1 && id.Hub == 1 && !c.yes {
		return withHint(fmt.Errorf("this machine made the fleet %s: without it no hub can join, and no machine can be taken out", id.Fleet), "if that is what you want: stopgate fleet leave --yes")
	}
	if err := c.agree(ctx, fmt.Sprintf("Take this machine, %s, out of the fleet %s?", id.Name, id.Fleet)); err != nil {
		return err
	}

	_, unsent := c.tell(ctx, id, id.Name)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	kept, err := c.forget(ctx, id)
	if err != nil {
		return err
	}

	text := fmt.Sprintf("this machine, %s, has left the fleet %s; its files are kept in %s\n", id.Name, id.Fleet, kept)
	if unsent != nil && id.Hub != 1 && id.NATS == "" {
		text += fmt.Sprintf("\nNo hub has confirmed it (%v).\nIf the others still use the fleet, %s\n", unsent, maker{}.run(id, "stopgate fleet leave "+id.Name))
	}
	if id.Hub > 1 {
		text += "\nThe fleet has one hub less: losing another one stops it.\n" + replaceHub
	}
	return c.show(left{Fleet: id.Fleet, Member: id.Name, Kept: kept, Told: unsent == nil}, text)
}

// endPatience is how long the hub may take to end.
const endPatience = 30 * time.Second

// forget ends this machine's membership. The hub ends when it notices; its files are kept, because they may
// be the only copy of something.
func (c *command) forget(ctx context.Context, id member.Identity) (kept string, err error) {
	if err := member.Forget(c.stateDir); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for hub.Runs(c.stateDir) {
		if pause.For(ctx, 50*time.Millisecond) != nil {
			return "", withHint(fmt.Errorf("this machine, %s, has left the fleet %s, but its hub has not ended within %s", id.Name, id.Fleet, endPatience), fmt.Sprintf("end it with: kill %d", hub.PID(c.stateDir)))
		}
	}
	kept = filepath.Join(c.stateDir, "fleet-left-"+c.now().UTC().Format("20060102-150405"))
	for name, again := kept, 2; ; again++ { // it may have left before in the same second
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			return kept, os.Rename(member.Dir(c.stateDir), kept)
		} else if err != nil {
			return "", err
		}
		kept = fmt.Sprintf("%s-%d", name, again)
	}
}
