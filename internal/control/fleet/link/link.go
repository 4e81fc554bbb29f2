// Package link is a member's connection to its fleet: the names of subjects and streams, and what is behind
// them.
//
// A fleet's store holds what is no single host's own: jobs, caps, members and anchors. Its views hold the last
// word of each member about itself. Everything else travels as a request from one member to another.
package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	store "github.com/stopgate/stopgate/internal/control/store/jetstream"
)

// Link is what a member of a fleet does everything through.
type Link struct {
	Names
	Member string // our name in the fleet
	Conn   *nats.Conn
	// Log is the fleet's store. Its subjects are those of Job, Cap, MemberOf and Anchor.
	Log *store.Store
	// Views has the last message of each subject that View, Beat and AllViews name.
	Views jetstream.Stream
	JS    jetstream.JetStream

	ended chan struct{}
}

// Open opens what the fleet's hubs have made. The connection stays the caller's.
func Open(ctx context.Context, nc *nats.Conn, fleet, member string) (*Link, error) {
	l := &Link{Names: Names{fleet}, Member: member, Conn: nc, ended: make(chan struct{})}
	nc.SetClosedHandler(func(*nats.Conn) { close(l.ended) })
	var err error
	if l.JS, err = jetstream.New(nc, jetstream.WithDefaultTimeout(5*time.Second)); err != nil {
		return nil, err
	}
	if l.Views, err = l.JS.Stream(ctx, l.ViewStream()); err != nil {
		return nil, fmt.Errorf("open the views of the fleet %s: %w", fleet, err)
	}
	if l.Log, err = store.Open(ctx, nc, store.Options{Name: l.LogStream(), Prefix: l.prefix() + ".log"}); err != nil {
		return nil, err
	}
	return l, nil
}

// Ended is closed when the connection is closed for good: the machine has left the fleet, or is to stop. It
// stays open while hubs are only out of reach.
func (l *Link) Ended() <-chan struct{} { return l.ended }

// Close closes the store, and not the connection.
func (l *Link) Close() error { return l.Log.Close() }

// Make makes what a fleet consists of, on so many servers each. Hubs do that; it may be repeated.
func Make(ctx context.Context, nc *nats.Conn, fleet string, replicas int) error {
	n := Names{fleet}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(5*time.Second))
	if err != nil {
		return err
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: n.ViewStream(), Subjects: []string{n.AllViews(), n.Beat("*")}, Storage: jetstream.FileStorage, Replicas: replicas,
		MaxMsgsPerSubject: 1, MaxMsgSize: MaxView, AllowDirect: false, AllowRollup: false,
		AllowMsgTTL: true, // for the word that a view was removed, which is of no use after a while
	})
	if err != nil {
		return fmt.Errorf("make the views of the fleet %s: %w", fleet, err)
	}
	s, err := store.Open(ctx, nc, store.Options{Name: n.LogStream(), Prefix: n.prefix() + ".log", Replicas: replicas})
	if err != nil {
		return err
	}
	return s.Close()
}

// MaxView is the largest view of a pipeline, and MaxRequest the largest request or answer.
const (
	MaxView    = 64 << 10
	MaxRequest = 4 << 20
)

// Names are the names of a fleet's streams and subjects.
type Names struct{ Fleet string }

func (n Names) prefix() string { return "sg." + n.Fleet }

// LogStream is the stream of the store's events.
func (n Names) LogStream() string { return "SG_" + n.Fleet }

// ViewStream is the stream of views and beats.
func (n Names) ViewStream() string { return "SGV_" + n.Fleet }

// AllViews are the subjects of all views.
func (n Names) AllViews() string { return n.prefix() + ".view.>" }

// View is the subject of what a member shows of a pipeline or run.
func (n Names) View(member, owner string) string { return n.prefix() + ".view." + member + "." + owner }

// Beat is the subject of a member's heartbeat.
func (n Names) Beat(member string) string { return n.prefix() + ".beat." + member }

// Ask is the subject of a request. The servers refuse a member that asks in another's name.
func (n Names) Ask(to, from string) string { return n.prefix() + ".api." + to + "." + from }

// AskHub is the subject of a request to a hub: to join, to leave, how it is.
func (n Names) AskHub(hub, verb, from string) string {
	return n.prefix() + ".hub." + hub + "." + verb + "." + from
}

// Inbox is the prefix of the subjects on which a member gets answers.
func Inbox(member string) string { return "_INBOX." + member }

// LogSubjects are the subjects of NATS behind one of the store, such as that of Job.
func (n Names) LogSubjects(subject string) string { return n.prefix() + ".log." + subject }

// Job is that of a job.
func Job(id string) string { return "job." + id }

// Cap is that of a cap.
func Cap(name string) string { return "cap." + name }

// MemberOf is that of a member.
func MemberOf(name string) string { return "member." + name }

// Anchor is that of the heads of a member's own store.
func Anchor(member string) string { return "anchor." + member }

// CheckName checks the name of a fleet, a member or a cap: it is part of subjects.
func CheckName(name string) error {
	const longest = 32
	switch {
	case name == "":
		return errors.New("a name is needed")
	case len(name) > longest:
		return fmt.Errorf("the name %.40q is longer than %d characters", name, longest)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return fmt.Errorf("the name %q has other characters than a-z, 0-9 and -", name)
	}
	return nil
}
