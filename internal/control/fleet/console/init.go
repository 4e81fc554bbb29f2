package console

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// initOptions are the flags of fleet init.
type initOptions struct {
	hubs     []string
	name     string
	user     string
	nats     string
	creds    string
	replicas int
}

func newInit(c *command) func(context.Context, []string) error {
	var o initOptions
	c.flags.StringArrayVar(&o.hubs, "hub", nil, "")
	c.flags.StringVar(&o.name, "name", "", "")
	c.flags.StringVar(&o.user, "user", "", "")
	c.flags.StringVar(&o.nats, "nats", "", "")
	c.flags.StringVar(&o.creds, "creds", "", "")
	c.flags.IntVar(&o.replicas, "replicas", 0, "")
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usage("fleet init needs the fleet's name, such as home")
		}
		return c.init(ctx, args[0], o)
	}
}

func (c *command) init(ctx context.Context, fleet string, o initOptions) error {
	id, err := c.newIdentity(fleet, o)
	if err != nil {
		return err
	}
	if o.nats != "" {
		return c.initNATS(ctx, id, o)
	}
	if id.Hubs, err = hubsOf(o.hubs); err != nil {
		return codeError{err, exitUsage, "for example: --hub 192.168.1.5, or --hub a.example.org --hub b.example.org --hub c.example.org"}
	}
	id.Hub = 1
	own, _ := id.Own()
	if err := hub.CheckPorts(own, len(id.Hubs) > 1); err != nil {
		return codeError{err, exitCouldNotRun, fmt.Sprintf("choose another port: --hub %s:PORT", own.Host)}
	}
	if err := hub.Found(c.stateDir, id, c.now()); err != nil {
		return err
	}
	return c.begun(ctx)
}

// newIdentity is who this machine is to be.
func (c *command) newIdentity(fleet string, o initOptions) (id member.Identity, err error) {
	if now, err := member.Load(c.stateDir); err == nil {
		return id, withHint(&member.InFleetError{Identity: now, Wanted: fleet}, "to leave it: stopgate fleet leave")
	} else if !errors.Is(err, member.ErrNone) {
		return id, err
	}
	id = member.Identity{Fleet: fleet, Name: o.name, User: o.user}
	if id.Name == "" {
		if id.Name, err = thisHost(); err != nil {
			return id, codeError{err, exitUsage, ""}
		}
	}
	if id.User == "" {
		id.User = thisUser()
	}
	for _, err := range []error{link.CheckName(fleet), link.CheckName(id.Name), member.CheckUser(id.User)} {
		if err != nil {
			return id, codeError{err, exitUsage, ""}
		}
	}
	return id, nil
}

// hubsOf are the hubs that a fleet is to have: one or three. The first one is this machine's.
func hubsOf(addresses []string) (hubs []member.Hub, err error) {
	if len(addresses) == 0 {
		address, err := ownAddress()
		if err != nil {
			return nil, err
		}
		addresses = []string{address}
	}
	seen := map[string]bool{}
	for _, address := range addresses {
		one, err := member.ParseHub(address)
		if err != nil {
			return nil, err
		}
		if seen[one.Address()] {
			return nil, fmt.Errorf("the hub %s is given twice", one.Address())
		}
		seen[one.Address()] = true
		hubs = append(hubs, one)
	}
	if len(hubs) != 1 && len(hubs) != 3 {
		return nil, fmt.Errorf("a fleet has one hub or three, not %d: with two hubs, losing one stops both", len(hubs))
	}
	return hubs, nil
}

// ownAddress is the address of this machine that leads to others. Nothing is sent.
func ownAddress() (string, error) {
	conn, err := net.Dial("udp", "192.0.2.1:9")
	if err != nil { // there is no default route
		all, _ := net.InterfaceAddrs() // without any there is nothing to choose from
		return reachable(all)
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}

// reachable is the one address of a machine at which others can reach it; IPv4 is preferred. Where there are
// several, a person must choose.
func reachable(all []net.Addr) (string, error) {
	var four, six []string
	for _, one := range all {
		network, ok := one.(*net.IPNet)
		switch {
		case !ok || !network.IP.IsGlobalUnicast():
		case network.IP.To4() != nil:
			four = append(four, network.IP.String())
		default:
			six = append(six, network.IP.String())
		}
	}
	found := four
	if len(found) == 0 {
		found = six
	}
	switch len(found) {
	case 0:
		return "", errors.New("this machine has no address that others could reach: give one with --hub")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("this machine has several addresses, %s: give the one at which the others reach it with --hub", strings.Join(found, ", "))
}

// begun starts the hub that was just made, and says what comes next.
func (c *command) begun(ctx context.Context) error {
	id, err := member.Load(c.stateDir)
	if err != nil {
		return err
	}
	if err := c.keeper().Start(); err != nil {
		return err
	}
	if err := c.awaitHub(ctx, id); err != nil {
		return err
	}
	own, _ := id.Own()
	var b strings.Builder
	fmt.Fprintf(&b, "created the fleet %s; this machine is %s, and its hub is up at %s\n", id.Fleet, id.Name, own.Address())
	if len(id.Hubs) == 1 {
		fmt.Fprintf(&b, "\nOne hub is not highly available: while %s is down, the machines do not see each other and\ntake no jobs; each continues its own work. With three hubs, any one of them may be\ndown. To have three, start again before other machines join: stopgate fleet leave --yes, then\nstopgate fleet init %s --hub ADDRESS --hub ADDRESS --hub ADDRESS\n", id.Name, id.Fleet)
		fmt.Fprintf(&b, "\nThe next machine needs port %d of this one. To invite it, run here:\n\n  stopgate fleet invite\n", own.Port)
		return c.show(id, b.String())
	}
	fmt.Fprintf(&b, "\nThe fleet can be used when all three hubs have joined. Hubs need the ports %d and %d of each\nother, or those that you gave. Run here, once for each of them:\n\n  stopgate fleet invite --hub\n", own.Port, own.Port+1)
	return c.show(id, b.String())
}

// hubPatience is how long a hub may take to start.
const hubPatience = time.Minute

// awaitHub waits until a hub answers this machine.
func (c *command) awaitHub(ctx context.Context, id member.Identity) error {
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	var last error
	for {
		if last = c.tryHub(ctx, id); last == nil {
			return nil
		}
		if end := hub.LastEnd(c.stateDir); end.Reason != "" && !hub.Runs(c.stateDir) {
			return codeError{fmt.Errorf("this machine is in the fleet, and its hub does not run: %s", end.Reason), exitCouldNotRun, "once that is fixed, the daemon starts it; then run: stopgate fleet doctor"}
		}
		if pause.For(ctx, 100*time.Millisecond) != nil {
			return codeError{fmt.Errorf("the hub has not answered within %s: %w", hubPatience, last), exitCouldNotRun, "its log is " + c.stateDir + "/logs/hub.log; then run: stopgate fleet doctor"}
		}
	}
}

// tryHub is whether a fleet with one hub can be used, or a hub of three answers.
func (c *command) tryHub(ctx context.Context, id member.Identity) error {
	nc, err := member.Connect(ctx, c.stateDir, id)
	if err != nil {
		return err
	}
	defer nc.Close()
	var status member.HubStatus
	names := link.Names{Fleet: id.Fleet}
	number := max(id.Hub, 1)
	if err := member.Ask(ctx, nc, names.AskHub(member.HubName(number), member.VerbStatus, id.Name), nil, &status); err != nil {
		return err
	}
	if len(id.Hubs) == 1 && status.Waits != "" {
		return errors.New(status.Waits)
	}
	return nil
}

// initNATS makes a fleet on a cluster that is there already.
func (c *command) initNATS(ctx context.Context, id member.Identity, o initOptions) error {
	if len(o.hubs) > 0 || o.creds == "" {
		return usage("--nats needs --creds FILE, and no --hub")
	}
	if err := member.SaveCredentials(c.stateDir, o.creds); err != nil {
		return codeError{err, exitUsage, ""}
	}

	id.NATS = o.nats
	var err error
	if id.Key, err = member.MakeKey(c.stateDir); err != nil {
		return err
	}
	nc, err := member.Connect(ctx, c.stateDir, id)
	if err != nil {
		return codeError{err, exitCouldNotRun, ""}
	}
	defer nc.Close()

	replicas := o.replicas
	if replicas == 0 {
		replicas = 3
	}
	err = link.Make(ctx, nc, id.Fleet, replicas)
	if err != nil && o.replicas == 0 && tooFew(err) {
		replicas = 1
		err = link.Make(ctx, nc, id.Fleet, replicas)
	}
	if err != nil {
		return codeError{fmt.Errorf("make the fleet's streams: %w", err), exitCouldNotRun, "these credentials must be allowed to make streams"}
	}

	if err := id.Enroll(ctx, c.stateDir, c.now()); err != nil {
		return err
	}
	if err := id.Save(c.stateDir); err != nil {
		return err
	}

	var b strings.Builder
	fmt.Fprintf(&b, "the fleet %s is made on %s with %d replicas; this machine is %s\n", id.Fleet, id.NATS, replicas, id.Name)
	if replicas == 1 {
		b.WriteString("\nOne replica is not highly available, and can lose everything with its server's disk.\n")
	}
	b.WriteString("Set sync_interval: always in the servers' configuration: otherwise a power cut loses what they acknowledged.\n")
	fmt.Fprintf(&b, "\nThe cluster's administrator grants permissions. A member M needs:\n\n%s", permissionText(id.Fleet))
	b.WriteString("\nTo invite another machine, run here:\n\n  stopgate fleet invite\n")
	return c.show(id, b.String())
}

// tooFew reports whether the cluster has not enough servers.
func tooFew(err error) bool {
	api := (*jetstream.APIError)(nil)
	const noPeers, notClustered, insufficient = 10005, 10074, 10023
	return errors.As(err, &api) && (api.ErrorCode == noPeers || api.ErrorCode == notClustered || api.ErrorCode == insufficient)
}

// permissionText is what a member of a fleet may do, for the configuration of a server.
func permissionText(fleet string) string {
	may := hub.Permissions(link.Names{Fleet: fleet}, "M")
	var b strings.Builder
	for _, subject := range may.Publish.Allow {
		fmt.Fprintf(&b, "  publish    %s\n", subject)
	}
	fmt.Fprintf(&b, "  publish    %s\n", link.Names{Fleet: fleet}.LogSubjects(link.MemberOf("M")))
	for _, subject := range may.Subscribe.Allow {
		fmt.Fprintf(&b, "  subscribe  %s\n", subject)
	}
	fmt.Fprintf(&b, "  answers    %d within %s (allow_responses)\n", may.Response.MaxMsgs, may.Response.Expires)
	return b.String()
}
