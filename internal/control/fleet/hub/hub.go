// Package hub is a hub of a fleet: a server of NATS in a process of its own, so that upgrading or killing a
// daemon takes no voter away from the others.
//
// A hub lets in the members that the fleet's store names, each with its own key, and only to what is its own.
// It keeps a copy of their list, so that it lets them in also while the store cannot be read.
package hub

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Options are what a hub is run with.
type Options struct {
	StateDir string
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
}

// hub is one life of a hub.
type hub struct {
	Options
	id     member.Identity
	names  link.Names
	server *server.Server
	users  *users
	nc     *nats.Conn
	since  time.Time
	state  state
	early  sync.Mutex // held while the store is made of our copy of the members, or that copy changes before
	wrong  string     // with records of members, as it was logged
}

// Run is the hub of this machine, until the context ends or the machine leaves the fleet. The error says also
// who runs it already.
func Run(ctx context.Context, o Options) error {
	id, err := member.Load(o.StateDir)
	if err != nil {
		return err
	}
	if _, runs := id.Own(); !runs {
		return fmt.Errorf("this machine, %s, runs no hub of the fleet %s", id.Name, id.Fleet)
	}
	release, err := hold(ctx, o.StateDir)
	if err != nil {
		return err
	}
	defer release()
	h := &hub{Options: o, id: id, names: link.Names{Fleet: id.Fleet}, since: o.Now()}
	err = h.live(ctx)
	h.noteEnd(err)
	return err
}

func (h *hub) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := h.start(ctx); ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // it was ended while it started
	} else if err != nil {
		return err
	}
	h.noteEnd(nil)
	defer func() {
		h.nc.Close()
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}()
	own, _ := h.id.Own()
	h.Log.Info("the hub is up", "fleet", h.id.Fleet, "address", own.Address(), "version", h.Version)
	if err := h.serve(ctx); err != nil {
		return err
	}
	go h.follow(ctx)
	go h.tidy(ctx)
	return h.stay(ctx)
}

// startPatience is how long a server may take to listen. It reads its streams before.
const startPatience = 2 * time.Minute

// start starts the server, and connects to it.
func (h *hub) start(ctx context.Context) error {
	certificate, err := member.HubCertificate(h.StateDir, h.id)
	if err != nil {
		return fmt.Errorf("the hub's certificate: %w", err)
	}
	if h.users, err = newUsers(h, certificate); err != nil {
		return err
	}
	if h.takenOut() {
		return errTakenOut
	}

	options, err := h.options(certificate)
	if err != nil {
		return err
	}
	if h.server, err = server.NewServer(options); err != nil {
		return err
	}

	fatal := make(chan string, 1)
	h.server.SetLoggerV2(logger{h.Log, fatal}, false, false, false)
	h.users.disconnect = func(key string) { disconnect(h.server, key) }
	h.server.Start()
	if err := h.awaitServer(ctx, fatal); err != nil {
		h.server.Shutdown()
		return err
	}

	h.nc, err = nats.Connect("", nats.InProcessServer(h.server), nats.UserInfo(hubUser, h.users.secret),
		nats.MaxReconnects(-1), nats.Name(member.HubName(h.id.Hub)), nats.CustomInboxPrefix(link.Inbox(hubUser+"-"+rand.Text())))
	if err != nil {
		h.server.Shutdown()
	}
	return err
}

// awaitServer waits until the server listens, it has failed, or the machine leaves its fleet.
func (h *hub) awaitServer(ctx context.Context, fatal <-chan string) error {
	late := time.After(startPatience)
	for !h.server.ReadyForConnections(100 * time.Millisecond) {
		if ctx.Err() != nil { // it was ended, whatever the server says
			return ctx.Err()
		}
		select {
		case why := <-fatal:
			return fmt.Errorf("the hub cannot start: %s", why)
		case <-late:
			return fmt.Errorf("the hub has not started within %s", startPatience)
		default:
		}
		if h.left() {
			return fmt.Errorf("this machine has left the fleet %s", h.id.Fleet)
		}
	}
	return nil
}

// errTakenOut ends the hub of a machine that the founder has taken out. Its certificate is still valid: the
// others cannot keep it from being a hub.
var errTakenOut = errors.New("this machine was taken out of the fleet: run stopgate fleet leave")

func (h *hub) takenOut() bool {
	r, known := h.users.get(h.id.Name)
	return known && r.Left && r.Key == h.id.Key
}

// lookEvery is how often a hub looks whether its machine has left the fleet.
const lookEvery = time.Second

// stay returns when the hub is to end.
func (h *hub) stay(ctx context.Context) error {
	for {
		if pause.For(ctx, lookEvery) != nil {
			h.Log.Info("the hub ends")
			return nil
		}
		if h.left() {
			h.Log.Info("the hub ends: this machine has left the fleet", "fleet", h.id.Fleet)
			return nil
		}
		if h.takenOut() {
			return errTakenOut
		}
		if !h.server.Running() {
			return errors.New("the server has ended by itself")
		}
		if !h.server.JetStreamEnabled() { // it stays so also when there is room again: the daemon starts another hub
			return fmt.Errorf("the hub cannot write to %s: is the disk full?", member.HubDir(h.StateDir))
		}
	}
}

// left reports whether the machine is no longer the member whose hub this is.
func (h *hub) left() bool {
	now, err := member.Load(h.StateDir)
	return errors.Is(err, member.ErrNone) || err == nil && (now.Fleet != h.id.Fleet || now.Key != h.id.Key || now.Hub != h.id.Hub)
}
