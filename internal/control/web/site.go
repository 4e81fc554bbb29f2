package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/control/web/webpush"
	"github.com/stopgate/stopgate/internal/record/stops"
)

// Site is the web page of a daemon: it listens where a person has asked for it, also after a restart of
// the daemon, until a person turns it off.
type Site struct {
	Options
	book     *book
	invited  *invitations
	streams  chan struct{} // one for each that is open
	feeds    feeds
	stops    memo[string, *stops.Stop] // that were answered
	lanes    memo[laneKey, *lane]
	prompted memo[promptsKey, *prompts]
	settled  memo[uint64, []daemonapi.Decision] // by the number of the daemon's last event

	verified verifier
	roster   *Roster
	details  *details
	post     func(*http.Request) (exchange.Reply, error) // to a push service
	past     *Past
	glances  *glances

	// control is held while a person's wish is done: doors are opened and shut by one at a time.
	control sync.Mutex

	mu     sync.Mutex      // never held while something is waited for
	ctx    context.Context // the daemon's
	local  *door
	remote *door
	doors  sync.WaitGroup // and all else that the site does: see run
}

// New is a site that does not listen yet. A record that cannot be read counts as none.
func New(o Options) *Site {
	b, err := openBook(o.StateDir, o.Now)
	if err != nil {
		o.Log.Error("cannot read the web page's sessions", "error", err)
	}
	return &Site{
		Options: o, book: b, invited: &invitations{now: o.Now}, streams: make(chan struct{}, maxStreams),
		feeds: feeds{all: map[string]*feed{}}, roster: newRoster(o.StateDir), details: newDetails(), post: post,
		past: newPast(o.StateDir, o.Plane.Workspaced), glances: newGlances(),
		stops: memo[string, *stops.Stop]{most: 500}, lanes: memo[laneKey, *lane]{most: 100}, prompted: memo[promptsKey, *prompts]{most: 100},
		settled: memo[uint64, []daemonapi.Decision]{most: 1},
	}
}

// Begin listens where the site did before. It answers until the context ends, for which Wait waits.
func (s *Site) Begin(ctx context.Context) {
	s.control.Lock()
	defer s.control.Unlock()
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	rec := s.book.get()
	if !rec.On {
		return
	}
	local, err := s.openLocal(rec.Loopback)
	s.logError("the web page cannot be reached", err)
	var other *door
	if rec.Remote != nil {
		other, err = s.openRemote(*rec.Remote)
		s.logError("the web page cannot be reached from other machines", err)
	}
	s.swap(local, other)
	if local != nil && local.address != rec.Loopback { // the hooks tell people the address on record
		s.logError("cannot keep the web page's address", s.book.change(ctx, func(rec *record, _ map[string]session) { rec.Loopback = local.address }))
	}
}

// ways are the doors that are open; nil is none.
func (s *Site) ways() (local, remote *door) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.local, s.remote
}

// swap makes doors those of the site, and returns those that were. They are still to be shut.
func (s *Site) swap(local, remote *door) (oldLocal, oldRemote *door) {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldLocal, oldRemote, s.local, s.remote = s.local, s.remote, local, remote
	return oldLocal, oldRemote
}

// life ends when the site does.
func (s *Site) life() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx
}

// run does something in a goroutine that Wait waits for. When the site ends, it does not begin, and
// reports false.
func (s *Site) run(do func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.ctx
	if ctx.Err() != nil {
		return false
	}
	s.doors.Go(func() { do(ctx) })
	return true
}

// Wait waits until the site answers no more, and does nothing more.
func (s *Site) Wait() {
	<-s.life().Done()
	s.ways() // what run let begin has begun: from now on it lets nothing
	s.doors.Wait()
}

func (s *Site) logError(what string, err error) {
	if err != nil {
		s.Log.Error(what, "error", err)
	}
}

// Control does what a person asks of the site, by stopgate ui.
func (s *Site) Control(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	s.control.Lock()
	defer s.control.Unlock()
	switch life := s.life(); {
	case life == nil || life.Err() != nil:
		return daemonapi.UI{}, unavailable(errors.New("the daemon is starting or stopping"))
	case c.Off:
		return s.turnOff(ctx)
	case c.SignOut:
		s.invited.clear()
		ended, err := s.book.leaveAll(ctx, func(rec *record) { rec.Key = newKey() })
		if err != nil {
			return daemonapi.UI{}, unavailable(err)
		}
		ui := s.describe()
		ui.SignedOut = ended
		return ui, nil
	}
	return s.turnOn(ctx, c)
}

func (s *Site) turnOff(ctx context.Context) (daemonapi.UI, error) {
	s.invited.clear()
	ended, err := s.book.leaveAll(ctx, func(rec *record) { rec.On, rec.Remote, rec.Key = false, nil, nil })
	if err != nil {
		return daemonapi.UI{}, unavailable(err)
	}
	local, other := s.swap(nil, nil)
	local.shut()
	other.shut()
	return daemonapi.UI{SignedOut: ended}, nil
}

// turnOn sees to it that the site listens, and invites a browser.
func (s *Site) turnOn(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	local, other := s.ways()
	if local == nil {
		var err error
		if local, err = s.openLocal(s.book.get().Loopback); err != nil {
			return daemonapi.UI{}, unavailable(err)
		}
		s.swap(local, other)
	}
	if wanted := (remote{Address: c.Listen, Cert: c.Cert, Key: c.Key}); c.Listen != "" && (other == nil || other.wanted != wanted) {
		if err := s.move(wanted); err != nil {
			return daemonapi.UI{}, unavailable(err)
		}
	}
	if err := s.keepDoors(ctx); err != nil {
		return daemonapi.UI{}, unavailable(err)
	}
	ui := s.describe()
	local, other = s.ways()
	if c.Listen != "" {
		local = other
	}
	s.invite(&ui, local)
	return ui, nil
}

// move opens the door for other machines elsewhere. Where that cannot be done, the old one stays.
func (s *Site) move(wanted remote) error {
	local, old := s.ways()
	made, err := s.openRemote(wanted)
	if old == nil || err == nil || !errors.Is(err, syscall.EADDRINUSE) {
		if err == nil {
			s.swap(local, made)
			old.shut()
		}
		return err
	}
	old.shut() // it may be the one that has the port
	made, err = s.openRemote(wanted)
	if err != nil {
		var lost error
		made, lost = s.openRemote(old.wanted)
		s.logError("the web page can no longer be reached from other machines", lost)
	}
	s.swap(local, made)
	return err
}

// keepDoors puts the doors that are open on record.
func (s *Site) keepDoors(ctx context.Context) error {
	local, other := s.ways()
	var made error
	err := s.book.change(ctx, func(rec *record, _ map[string]session) {
		rec.On, rec.Loopback = true, local.address
		if len(rec.Key) == 0 {
			rec.Key = newKey()
		}
		if len(rec.PushKey) == 0 {
			rec.PushKey, made = webpush.NewKey()
		}
		if other != nil {
			wanted := other.wanted
			rec.Remote = &wanted
		}
	})
	return errors.Join(err, made)
}

// invite adds a link to what a person is told.
func (s *Site) invite(ui *daemonapi.UI, way *door) {
	token, code, expires := s.invited.add(way.name, way.tls != nil)
	ui.Link, ui.Code, ui.Expires = way.url()+"/enter?token="+token, code, &expires
	if way.tls != nil {
		ui.QR = drawQR(ui.Link)
	}
}

// describe is how the site can be reached.
func (s *Site) describe() daemonapi.UI {
	ui := daemonapi.UI{}
	local, other := s.ways()
	if local != nil {
		ui.On, ui.URL = true, local.url()
	}
	if other != nil {
		ui.Remote = other.url()
		if other.wanted.Cert == "" {
			ui.Fingerprint = fingerprint(other.tls.current())
		}
	}
	return ui
}

// unavailable is the error of what could not be done just now.
func unavailable(err error) error {
	if _, known := errors.AsType[*api.Error](err); known {
		return err
	}
	return &api.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: err.Error()}}
}

// openLocal listens on this machine: at the address that it had, or where that is taken at another one.
func (s *Site) openLocal(address string) (*door, error) {
	if host, _, err := net.SplitHostPort(address); err != nil || host != "127.0.0.1" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		s.Log.Warn("the web page's port is in use; taking another one", "address", address)
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on 127.0.0.1: %w", err)
	}
	way := &door{name: "local", address: l.Addr().String(), host: "127.0.0.1", port: portOf(l)}
	return s.serve(way, l)
}

// openRemote listens for other machines, with TLS.
func (s *Site) openRemote(wanted remote) (*door, error) {
	host, _, err := net.SplitHostPort(wanted.Address)
	if err != nil {
		return nil, badRequest("--listen %s: %v", wanted.Address, err)
	}
	shown, err := newIdentity(wanted, host, filepath.Join(s.StateDir, "ui-cert.pem"), s.Options)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", wanted.Address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", wanted.Address, err)
	}
	if _, port, _ := net.SplitHostPort(wanted.Address); port == "0" { // the same after a restart
		wanted.Address = net.JoinHostPort(host, strconv.Itoa(portOf(l)))
	}
	way := &door{name: "remote", address: l.Addr().String(), host: shown.host, port: portOf(l), tls: shown, wanted: wanted}
	return s.serve(way, tls.NewListener(l, &tls.Config{GetCertificate: shown.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}))
}

// serve answers at a door until it is shut.
func (s *Site) serve(way *door, l net.Listener) (*door, error) {
	ctx, shut := context.WithCancel(s.life())
	way.shutdown, way.closed = shut, make(chan struct{})
	begun := s.run(func(context.Context) {
		defer close(way.closed)
		s.logError("the web page no longer answers", api.Serve(ctx, l, newHandler(s, way)))
	})
	if !begun {
		shut()
		return nil, errors.Join(errors.New("the daemon is stopping"), l.Close())
	}
	return way, nil
}

func portOf(l net.Listener) int {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// door is where browsers come in.
type door struct {
	name     string // local, remote
	address  string
	host     string // of its URL
	port     int
	tls      *identity // nil on this machine
	wanted   remote    // what a person asked for
	shutdown context.CancelFunc
	closed   chan struct{}
}

// shut ends what a door has to do with browsers: then its port is free.
func (d *door) shut() {
	if d != nil {
		d.shutdown()
		<-d.closed
	}
}

func (d *door) scheme() string {
	if d.tls != nil {
		return "https"
	}
	return "http"
}

func (d *door) url() string {
	return d.scheme() + "://" + net.JoinHostPort(d.host, strconv.Itoa(d.port))
}

// is reports whether a Host is the door's own: the one address on this machine, or a name of the
// certificate.
func (d *door) is(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, strconv.Itoa(map[bool]int{true: 443, false: 80}[d.tls != nil])
	}
	if port != strconv.Itoa(d.port) {
		return false
	}
	if d.tls == nil {
		return name == d.host
	}
	return d.tls.current().Leaf.VerifyHostname(name) == nil
}

// origin is what browsers send as Origin, from a page of ours that was asked for by a Host.
func (d *door) origin(host string) string { return d.scheme() + "://" + host }
