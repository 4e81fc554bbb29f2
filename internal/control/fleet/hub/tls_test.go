package hub

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Nothing gets in without a key that the fleet knows, or in the clear.
func TestStrangersAreRefused(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	pool, err := f.identity("a").Pool()
	check(t, err)
	secure := nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13})
	stranger := t.TempDir()
	key, err := member.MakeKey(stranger)
	check(t, err)
	seed, err := nats.NkeyOptionFromSeed(filepath.Join(member.Dir(stranger), "member.seed"))
	check(t, err)
	borrowed := nats.Nkey(f.identity("a").Key, func([]byte) ([]byte, error) { return make([]byte, 64), nil })
	for what, options := range map[string][]nats.Option{
		"in the clear":                  {},
		"without a key":                 {secure},
		"with an unknown key":           {secure, seed},
		"with a key that is not proven": {secure, borrowed},
		"as the hub":                    {secure, nats.UserInfo("hub", "")},
		"with a password":               {secure, nats.UserInfo(key, key)},
		"with a token":                  {secure, nats.Token("hub")},
	} {
		nc, err := nats.Connect("nats://"+f.hubs[0].Address(), options...)
		if err == nil {
			nc.Close()
			t.Errorf("%s: let in", what)
		}
	}
	// And no member takes another server for a hub.
	other := newFleet(t, 1)
	other.hubs[0] = f.hubs[0]
	id := other.identity("a")
	id.Hubs = f.hubs
	var unknown *tls.CertificateVerificationError
	if _, err := member.Connect(t.Context(), other.state("a"), id); !errors.As(err, &unknown) {
		t.Errorf("a hub of another fleet is taken for one's own: %v", err)
	}
}

// A server with a certificate of another authority does not become a hub, though it says that it is one.
func TestAHubNeedsACertificateOfTheFleet(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3)
	log := &said{}
	f.log = slog.New(slog.NewTextHandler(log, nil))
	f.run("a")
	checktest.Succeeds(t, "the hub answers", func() error { _, err := f.status("a", 1); return err })

	rogue := newFleet(t, 3)
	o := testOptions(rogue.state("a"))
	id := rogue.identity("a")
	id.Hubs = []member.Hub{f.hubs[0], rogue.hubs[0], rogue.hubs[2]}
	id.Hub, id.CA = 2, f.identity("a").CA // it trusts the hub
	check(t, id.Save(o.StateDir))         // a hub that takes a while to start looks whether it is still this machine's
	h := &hub{Options: o, id: id, names: link.Names{Fleet: "test"}, since: o.Now()}
	check(t, h.start(t.Context()))
	defer func() { h.nc.Close(); h.server.Shutdown(); h.server.WaitForShutdown() }()
	checktest.Succeeds(t, "it was refused", func() error { return log.has("TLS route handshake error") })
	s, err := f.status("a", 1)
	check(t, err)
	for _, peer := range s.Peers {
		if peer.Online {
			t.Errorf("%s is a hub", peer.Name)
		}
	}
}

// A list of members that is damaged on disk is read from the fleet's store again.
func TestADamagedListOfMembersIsReadAgain(t *testing.T) {
	f := newFleet(t, 1)
	f.run("a")
	f.usable("a")
	f.join("b")
	f.stop["a"]()
	check(t, os.WriteFile(filepath.Join(member.HubDir(f.state("a")), "members.json"), []byte("[{"), 0o600))
	f.run("a")
	f.usable("b")
	f.usable("a")
}
