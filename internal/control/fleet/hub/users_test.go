package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
)

var names = link.Names{Fleet: "test"}

// The servers refuse what is another's: no member speaks in the name of another, changes streams, or hears what
// is not for it.
func TestMembersMayDoOnlyWhatIsTheirs(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	f.join("c")
	nc, refused := f.connect("b")
	refuses := func(what string) {
		t.Helper()
		check(t, nc.Flush())
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s is allowed", what)
		}
	}
	for _, subject := range []string{
		names.View("c", "owner"), names.View("c", "b"), names.Beat("c"), names.LogSubjects(link.Anchor("c")),
		names.LogSubjects(link.MemberOf("b")), names.LogSubjects(link.MemberOf("c")), names.LogSubjects("store.trims"),
		names.LogStream() + "-snapshot.1.manifest", "sg.test.log-snapshot.1.manifest", "sg.other.log.job.1", "sg.test.log.invite.1",
		names.Ask("a", "c"), names.AskHub("hub-1", member.VerbLeave, "c"), names.AskHub("hub-1", member.VerbJoin, "x"),
		"_INBOX.c.x", "_INBOX.a.x", "_INBOX.x", "anything", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.$G.CONNZ",
	} {
		check(t, nc.Publish(subject, []byte("{}")))
		refuses("publishing to " + subject)
	}
	for _, stream := range []string{"SG_test", "SGV_test", "SG_test-snapshots"} {
		for _, call := range []string{
			"STREAM.PURGE.", "STREAM.DELETE.", "STREAM.UPDATE.", "STREAM.CREATE.", "STREAM.MSG.DELETE.", "STREAM.SNAPSHOT.", "STREAM.RESTORE.",
			"STREAM.LEADER.STEPDOWN.", "STREAM.PEER.REMOVE.", "CONSUMER.LIST.", "CONSUMER.NAMES.",
		} {
			check(t, nc.PublishRequest("$JS.API."+call+stream, link.Inbox("b")+".x", []byte("{}")))
			refuses("$JS.API." + call + stream)
		}
	}
	for _, subject := range []string{
		"$JS.API.STREAM.CREATE.MINE", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.META.LEADER.STEPDOWN", "$JS.API.SERVER.REMOVE",
		"$JS.API.ACCOUNT.PURGE.$G", "$JS.API.STREAM.INFO.OTHER",
	} {
		check(t, nc.PublishRequest(subject, link.Inbox("b")+".x", []byte("{}")))
		refuses(subject)
	}
	for _, subject := range []string{
		">", "_INBOX.>", "_INBOX.c.>", names.Ask("c", "*"), names.Ask("*", "b"), names.Ask("*", "*"), names.AllViews(), "sg.>", "sg.test.hub.>",
		names.AskHub("hub-1", "*", "*"), names.LogSubjects(">"), "$SYS.>", "$JS.>", "_R_.>",
	} {
		_, err := nc.SubscribeSync(subject)
		check(t, err)
		refuses("subscribing to " + subject)
	}
}

// What a member is for is allowed.
func TestMembersMayDoWhatIsTheirs(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	nc, refused := f.connect("b")
	l, err := link.Open(t.Context(), nc, "test", "b")
	check(t, err)
	defer l.Close()
	at, err := l.Log.Append(t.Context(), store.NewEvent{Subject: link.Job("1"), ID: "1", Data: []byte("{}")})
	check(t, err)
	_, err = l.Log.AppendAll(t.Context(), store.NewEvent{Subject: link.Job("1"), ID: "2", Expected: at}, store.NewEvent{Subject: link.Cap("agents"), ID: "3"})
	check(t, err)
	_, err = l.Log.Append(t.Context(), store.NewEvent{Subject: link.Anchor("b"), ID: "4"})
	check(t, err)
	_, err = l.Log.Barrier(t.Context())
	check(t, err)
	read := 0
	for _, err := range l.Log.ReadAll(t.Context(), 0) {
		check(t, err)
		read++
	}
	if read < 5 { // with the two members
		t.Errorf("%d events are read", read)
	}
	_, err = l.Log.Heads(t.Context())
	check(t, err)
	for _, subject := range []string{names.View("b", "owner"), names.Beat("b")} {
		_, err := l.JS.Publish(t.Context(), subject, []byte("{}"))
		check(t, err)
	}
	_, err = l.Log.LoadSnapshot(t.Context())
	check(t, err)

	// A request to another member is answered, once.
	other, _ := f.connect("a")
	_, err = other.Subscribe(names.Ask("a", "*"), func(m *nats.Msg) {
		_ = m.Respond([]byte(m.Subject))
		_ = m.Respond([]byte("again"))
	})
	check(t, err)
	check(t, other.Flush())
	answer, err := nc.RequestWithContext(t.Context(), names.Ask("a", "b"), nil)
	check(t, err)
	if string(answer.Data) != names.Ask("a", "b") {
		t.Errorf("the answer is %q", answer.Data)
	}
	select {
	case err := <-refused:
		t.Error(err)
	default:
	}
}

// JetStream delivers what it has to any subject that a reader names. That makes no event about a member, and no
// request in another's name.
func TestJetStreamDeliversNothingInAnothersName(t *testing.T) {
	t.Parallel()
	for _, hubs := range []int{1, 3} {
		t.Run(fmt.Sprint(hubs, " hubs"), func(t *testing.T) {
			f := newFleet(t, hubs)
			f.all()
			f.join("v")
			f.join("b")
			victim, _ := f.connect("v")
			heard := make(chan *nats.Msg, 100)
			_, err := victim.ChanSubscribe(names.Ask("v", "*"), heard)
			check(t, err)
			check(t, victim.Flush())

			nc, _ := f.connect("b")
			js, err := jetstream.New(nc)
			check(t, err)
			for _, subject := range []string{names.LogSubjects(link.Job("a")), names.View("b", "a")} {
				m := nats.NewMsg(subject)
				m.Header.Set("Sg-Method", "POST")
				m.Data = []byte("forged")
				_, err := js.PublishMsg(t.Context(), m)
				check(t, err)
			}
			for n, target := range []string{names.Ask("v", "a"), names.LogSubjects(link.MemberOf("evil")), names.Beat("v"), names.View("v", "x")} {
				for _, stream := range []string{"SG_test", "SGV_test"} {
					deliverTo(t, nc, js, stream, fmt.Sprintf("c%d", n), target)
				}
			}
			// All that was delivered is there when something later is.
			_, err = js.Publish(t.Context(), names.View("b", "later"), nil)
			check(t, err)
			check(t, victim.Flush())
			for len(heard) > 0 {
				if m := <-heard; strings.HasPrefix(m.Subject, "sg.test.api.") && m.Header.Get("Sg-Method") != "" {
					t.Errorf("a request in another's name: %s", m.Subject)
				}
			}
			reader, _ := f.connect("a")
			l, err := link.Open(t.Context(), reader, "test", "a")
			check(t, err)
			defer l.Close()
			for _, stream := range []string{"SG_test", "SGV_test"} {
				forged(t, l, stream)
			}
			// What it says besides, without content, keeps no hub from its members.
			f.join("later")
			f.usable("later")
		})
	}
}

// forged looks for messages under subjects that they were not published to.
func forged(t *testing.T, l *link.Link, name string) {
	t.Helper()
	s, err := l.JS.Stream(t.Context(), name)
	check(t, err)
	info, err := s.Info(t.Context())
	check(t, err)
	for at := info.State.FirstSeq; at <= info.State.LastSeq; at++ {
		msg, err := s.GetMsg(t.Context(), at)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		check(t, err)
		own := msg.Subject == names.LogSubjects(link.Job("a")) || msg.Subject == names.View("b", "a")
		if string(msg.Data) == "forged" && !own {
			t.Errorf("%s of %s was published to another subject", msg.Subject, name)
		}
	}
}

// deliverTo has a server deliver what a stream has to a subject, by a reader that asks and by one that is told.
func deliverTo(t *testing.T, nc *nats.Conn, js jetstream.JetStream, stream, name, target string) {
	t.Helper()
	_, err := js.CreateConsumer(t.Context(), stream, jetstream.ConsumerConfig{Name: name, AckPolicy: jetstream.AckNonePolicy})
	check(t, err)
	check(t, nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+name, target, []byte(`{"batch":100,"no_wait":true}`)))
	config, err := json.Marshal(map[string]any{"stream_name": stream, "config": map[string]any{"name": name + "p", "ack_policy": "none", "deliver_policy": "all", "deliver_subject": target}})
	check(t, err)
	_, err = nc.RequestWithContext(t.Context(), "$JS.API.CONSUMER.CREATE."+stream+"."+name+"p", config)
	check(t, err)
	// So that its deliveries are under way.
	_, err = nc.RequestWithContext(t.Context(), "$JS.API.STREAM.INFO."+stream, nil)
	check(t, err)
}
