package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/watch"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// errRemoved ends a daemon whose state directory is gone.
var errRemoved = errors.New("the state directory, or the daemon's lock in it, was removed")

// door is the daemon's socket, and who answers there.
type door struct {
	*daemon
	handler http.Handler
	serving sync.WaitGroup

	listener net.Listener
	bound    os.FileInfo // the listener's socket; nil where that is not known
}

// guard keeps the daemon reachable, until the context ends: a socket that somebody has
// removed, as those do that clean up temporary directories, is made again. Without its
// lock the daemon ends, since another one can start beside it.
func (d *daemon) guard(ctx context.Context, listener net.Listener, handler http.Handler) {
	door := &door{daemon: d, handler: handler, listener: listener}
	door.bound, _ = os.Lstat(d.socket()) // else it is made again at once
	defer door.serving.Wait()
	look := func() bool { return door.look(ctx) }
	watch.Files(ctx, []string{d.socket(), d.place.lock}, look, func(err error) { d.logError("cannot watch the socket", err) })
}

// look reports whether it made the socket again.
func (d *door) look(ctx context.Context) (renewed bool) {
	const afterwards = 300 * time.Millisecond // whoever removes everything removes the lock, too
	if d.place.ours() && !d.there() {
		_ = pause.For(ctx, afterwards)
	}
	switch {
	case ctx.Err() != nil || d.removed.Load():
	case !d.place.ours():
		d.removed.Store(true)
		d.leave()
		d.stopping.Do(func() { close(d.stopped) })
	case !d.there():
		return d.renew(ctx)
	}
	return false
}

// there reports whether the socket is the one that we listen on.
func (d *door) there() bool {
	now, err := os.Lstat(d.socket())
	return err == nil && d.bound != nil && os.SameFile(d.bound, now)
}

// renew listens on a new socket. Those who are connected by the old one stay so.
func (d *door) renew(ctx context.Context) bool {
	listener, err := api.Listen(d.socket())
	d.logError("the socket was removed and cannot be created again", err)
	if err != nil {
		return false
	}
	d.Log.Warn("the socket was removed; created it again")
	d.leave()
	d.listener = listener
	d.bound, _ = os.Lstat(d.socket()) // else it is made once more
	d.serving.Go(func() { d.logError("the socket does not answer", api.Serve(ctx, listener, d.handler)) })
	return true
}

// leave has what is in the socket's place stay there when we listen no more: it is not
// ours.
func (d *door) leave() {
	if l, ok := d.listener.(interface{ SetUnlinkOnClose(unlink bool) }); ok {
		l.SetUnlinkOnClose(false)
	}
}
