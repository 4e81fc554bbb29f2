package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	storage "github.com/stopgate/stopgate/internal/control/store/jetstream"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// state is whether the fleet's store can be used.
type state struct {
	mu  sync.Mutex
	log *storage.Store
	err error // why it cannot
}

// open is the store; nil while it cannot be used.
func (s *state) open() *storage.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log
}

func (s *state) get() (*storage.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log, s.err
}

func (s *state) set(log *storage.Store, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.err = log, err
}

// followPause is between two tries to use the store.
const followPause = time.Second

// follow makes the fleet's streams where they are missing, and keeps to the members that they name, until the
// context ends.
func (h *hub) follow(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		err := h.followOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		h.state.set(nil, err)
		if waits := h.waits(); waits != said {
			h.Log.Warn("the fleet's store cannot be used", "reason", waits)
			said = waits
		}
		_ = pause.For(ctx, followPause)
	}
}

// waits says why the fleet's store cannot be used; empty where it can.
func (h *hub) waits() string {
	log, err := h.state.get()
	if log != nil {
		return ""
	}
	missing := []string{}
	for _, peer := range h.peers() {
		if !peer.Online {
			missing = append(missing, fmt.Sprintf("%s (%s)", peer.Name, peer.Address))
		}
	}
	switch {
	case len(missing) > 0:
		return "the fleet waits for " + strings.Join(missing, " and ")
	case errors.Is(err, context.DeadlineExceeded):
		return "the hubs have not agreed on a leader yet; that takes some seconds"
	case gettingReady(err):
		return "the hubs are getting ready; that takes some seconds"
	case err != nil:
		return err.Error()
	}
	return "the hub is starting"
}

// gettingReady reports whether the servers cannot make streams yet, although all of them are connected: they do not
// know each other as places for streams, or have no leader. A disk that is too small stays so.
func gettingReady(err error) bool {
	var refused *jetstream.APIError
	if !errors.As(err, &refused) {
		return false
	}
	switch server.ErrorIdentifier(refused.ErrorCode) {
	case server.JSClusterIncompleteErr, server.JSClusterNotAvailErr:
		return true
	case server.JSClusterNoPeersErrF:
		return !strings.Contains(refused.Description, "insufficient")
	}
	return false
}

func (h *hub) followOnce(ctx context.Context) error {
	if err := h.make(ctx); err != nil {
		return err
	}
	if err := h.noteMade(); err != nil {
		return err
	}

	l, err := link.Open(ctx, h.nc, h.id.Fleet, hubUser)
	if err != nil {
		return err
	}
	defer l.Close()

	from, err := l.Log.Barrier(ctx)
	if err != nil {
		return err
	}
	if err := h.catchUp(ctx, l.Log); err != nil {
		return err
	}

	h.state.set(l.Log, nil)
	h.Log.Info("the fleet's store is open", "position", from)
	for e, err := range l.Log.Watch(ctx, link.MemberOf(""), from) {
		if errors.Is(err, store.ErrDamaged) {
			h.Log.Error("the fleet's store is damaged; the hub looks for changes of members each second", "error", err)
			return h.poll(ctx, l.Log)
		}
		if err != nil {
			return err
		}
		h.take(e)
	}
	return nil
}

// poll looks for members again and again. It passes over what is damaged, which any member can cause: that
// must not keep the others out.
func (h *hub) poll(ctx context.Context, log *storage.Store) error {
	for pause.For(ctx, followPause) == nil {
		if err := h.catchUp(ctx, log); err != nil {
			return err
		}
	}
	return nil
}

// make makes the fleet's streams, unless they are there. That takes all hubs.
func (h *hub) make(ctx context.Context) error {
	js, err := jetstream.New(h.nc, jetstream.WithDefaultTimeout(5*time.Second))
	if err != nil {
		return err
	}
	for _, name := range []string{h.names.LogStream(), h.names.ViewStream(), h.names.LogStream() + "-snapshots"} {
		_, err := js.Stream(ctx, name)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			return link.Make(ctx, h.nc, h.id.Fleet, len(h.id.Hubs))
		case err != nil:
			return err
		}
	}
	return nil
}

// madePath is a file that is there once the fleet's store was made: without a quorum the servers cannot tell.
func (h *hub) madePath() string { return filepath.Join(member.HubDir(h.StateDir), "made") }

func (h *hub) made() bool {
	_, err := os.Lstat(h.madePath())
	return !errors.Is(err, fs.ErrNotExist)
}

// noteMade keeps that the store is there, before a record of our copy is put into it.
func (h *hub) noteMade() error {
	h.early.Lock()
	defer h.early.Unlock()
	if h.made() {
		return nil
	}
	return atomicfile.Write(h.madePath(), nil, 0o600)
}

// catchUp takes over all members in the store, and puts those into it that only our copy has: hubs that
// joined before there was a store.
func (h *hub) catchUp(ctx context.Context, log *storage.Store) error {
	members, err := h.id.Members(ctx, log)
	if members == nil && err != nil {
		return err
	}
	h.logWrong(err)

	stored := map[string]bool{}
	for _, r := range members {
		if own, known := h.users.get(r.Name); known && own.Left && !r.Left && own.Key == r.Key && !own.Time.Before(r.Time) {
			continue // another hub had joined with a copy in which it had not left yet
		}
		stored[r.Name] = true
		if err := h.users.set(r); err != nil {
			return err
		}
	}

	for _, r := range h.users.all() {
		if stored[r.Name] || r.Hub == 0 || h.id.Hub != 1 && r.Name != h.id.Name {
			continue // of others the founder's hub knows whether they have left since
		}
		if err := h.write(ctx, log, r); err != nil && !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return nil
}

// logWrong logs what is wrong with records when that changes.
func (h *hub) logWrong(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != h.wrong && text != "" {
		h.Log.Error("a member's record is not taken over", "error", err)
	}
	h.wrong = text
}

// take takes an event about a member over. One that no hub has signed is not about a member.
func (h *hub) take(e store.Event) {
	r, err := h.id.Read(e)
	if err == nil {
		err = h.users.set(r)
	}
	if err != nil {
		h.Log.Error("a member's record is not taken over", "error", err)
	}
}

// write puts a member's record into the store, and takes it over. Another hub may do the same at once: then
// the later one is told.
func (h *hub) write(ctx context.Context, log *storage.Store, r member.Record) error {
	if err := r.Append(ctx, log, h.id.Fleet, h.users.certificate); err != nil {
		return err
	}
	return h.users.set(r)
}
