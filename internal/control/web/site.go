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
	book    *book
	invited *invitations
	streams chan struct{} // one for each that is open
	feeds   feeds
	stops   memo[string, *stops.Stop] // that were answered
	lanes   memo[laneKey, *lane]
	told    memo[promptsKey, *prompts]
	settled memo[uint64, []daemonapi.Decision] // by the number of the daemon's last event

	verified verifier
	roster   *Roster
	details  *details
	post     func(*http.Request) (exchange.Reply, error) // to a push service
	past     *Past
	glances  *glances

	mu     sync.Mutex
	ctx    context.Context // the daemon's
	local  *door
	remote *door
	doors  sync.WaitGroup
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
		stops: memo[string, *stops.Stop]{most: 500}, lanes: memo[laneKey, *lane]{most: 100}, told: memo[promptsKey, *prompts]{most: 100},
		settled: memo[uint64, []daemonapi.Decision]{most: 1},
	}
}

// Begin listens where the site did before. It answers until the context ends, for which Wait waits.
func (s *Site) Begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
	rec := s.book.get()
	if rec.On {
		s.logError("the web page cannot be reached", s.openLocal(rec.Loopback))
	}
	if rec.On && rec.Remote != nil {
		s.logError("the web page cannot be reached from other machines", s.openRemote(*rec.Remote))
	}
}

// life ends when the site does.
func (s *Site) life() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx
}

// Wait waits until the site answers no more.
func (s *Site) Wait() {
	<-s.ctx.Done()
	s.doors.Wait()
}

func (s *Site) logError(what string, err error) {
	if err != nil {
		s.Log.Error(what, "error", err)
	}
}

// Control does what a person asks of the site, by stopgate ui.
func (s *Site) Control(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx == nil || s.ctx.Err() != nil:
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
	s.local.shut()
	s.remote.shut()
	s.local, s.remote = nil, nil
	return daemonapi.UI{SignedOut: ended}, nil
}

// turnOn sees to it that the site listens, and invites a browser.
func (s *Site) turnOn(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error) {
	if s.local == nil {
		if err := s.openLocal(s.book.get().Loopback); err != nil {
			return daemonapi.UI{}, unavailable(err)
		}
	}
	if c.Listen != "" {
		wanted := remote{Address: c.Listen, Cert: c.Cert, Key: c.Key}
		if s.remote == nil || s.remote.wanted != wanted {
			s.remote.shut()
			s.remote = nil
			if err := s.openRemote(wanted); err != nil {
				return daemonapi.UI{}, unavailable(err)
			}
		}
	}
	var made error
	err := s.book.change(ctx, func(rec *record, _ map[string]session) {
		rec.On, rec.Loopback = true, s.local.address
		if len(rec.Key) == 0 {
			rec.Key = newKey()
		}
		if len(rec.PushKey) == 0 {
			rec.PushKey, made = webpush.NewKey()
		}
		if s.remote != nil {
			wanted := s.remote.wanted
			rec.Remote = &wanted
		}
	})
	if err := errors.Join(err, made); err != nil {
		return daemonapi.UI{}, unavailable(err)
	}
	ui := s.describe()
	way := s.local
	if c.Listen != "" {
		way = s.remote
	}
	s.invite(&ui, way)
	return ui, nil
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
	if s.local != nil {
		ui.On, ui.URL = true, s.local.url()
	}
	if s.remote != nil {
		ui.Remote = s.remote.url()
		if s.remote.wanted.Cert == "" {
			ui.Fingerprint = fingerprint(s.remote.tls)
		}
	}
	return ui
}

// URL is the address on this machine, "" while the site is off.
func (s *Site) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local == nil {
		return ""
	}
	return s.local.url()
}

// unavailable is the error of what could not be done just now.
func unavailable(err error) error {
	if _, known := errors.AsType[*api.Error](err); known {
		return err
	}
	return &api.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: err.Error()}}
}

// openLocal listens on this machine: at the address that it had, or where that is taken at another one.
func (s *Site) openLocal(address string) error {
	if host, _, err := net.SplitHostPort(address); err != nil || host != "127.0.0.1" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		s.Log.Warn("the web page's port is in use; taking another one", "address", address)
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("cannot listen on 127.0.0.1: %w", err)
	}
	s.local = &door{name: "local", address: l.Addr().String(), host: "127.0.0.1", port: portOf(l)}
	s.serve(s.local, l)
	return nil
}

// openRemote listens for other machines, with TLS.
func (s *Site) openRemote(wanted remote) error {
	host, _, err := net.SplitHostPort(wanted.Address)
	if err != nil {
		return invalid("--listen %s: %v", wanted.Address, err)
	}
	cert, err := loadCertificate(wanted, host, filepath.Join(s.StateDir, "ui-cert.pem"), s.Now())
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", wanted.Address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", wanted.Address, err)
	}
	if _, port, _ := net.SplitHostPort(wanted.Address); port == "0" { // the same after a restart
		wanted.Address = net.JoinHostPort(host, strconv.Itoa(portOf(l)))
	}
	s.remote = &door{name: "remote", address: l.Addr().String(), host: reachable(host, cert), port: portOf(l), tls: cert, wanted: wanted}
	s.serve(s.remote, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}))
	return nil
}

func (s *Site) serve(way *door, l net.Listener) {
	ctx, shut := context.WithCancel(s.ctx)
	way.shutdown, way.closed = shut, make(chan struct{})
	s.doors.Go(func() {
		defer close(way.closed)
		s.logError("the web page is not answered any more", api.Serve(ctx, l, newHandler(s, way)))
	})
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
	tls      *tls.Certificate // nil on this machine
	wanted   remote           // what a person asked for
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
	return d.tls.Leaf.VerifyHostname(name) == nil
}

// origin is what browsers send as Origin, from a page of ours that was asked for by a Host.
func (d *door) origin(host string) string { return d.scheme() + "://" + host }

func invalid(format string, args ...any) error {
	return &api.Error{Status: http.StatusBadRequest, Failure: daemonapi.Failure{Code: "invalid", Error: fmt.Sprintf(format, args...)}}
}
