package member

import (
	"bytes"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

func newToken(t testing.TB) Token {
	t.Helper()
	pair, err := nkeys.CreateUser()
	check(t, err)
	seed, err := pair.Seed()
	check(t, err)
	return Token{Fleet: "home", Hub: Hub{"10.0.0.1", defaultPort}, Number: 1, CA: bytes.Repeat([]byte{7}, 32), Seed: string(seed)}
}

// What a person can do wrong when they copy a token has an error that says what to do.
func TestTokensThatWereCopiedBadly(t *testing.T) {
	token := newToken(t)
	whole := token.String()
	got, err := ParseToken("  " + whole + "\n")
	check(t, err)
	if got.Seed != token.Seed || got.Hub != token.Hub || got.Fleet != "home" || !bytes.Equal(got.CA, token.CA) {
		t.Errorf("%+v became %+v", token, got)
	}
	middle := len(whole) / 2
	for _, c := range []struct{ text, says string }{
		{"", "a token is needed"},
		{whole[:middle], "incomplete"},
		{whole[:len(whole)-1], "incomplete"},
		{whole[middle:], "must begin with"},
		{whole[1:], "must begin with"},
		{whole[:middle] + "\n" + whole[middle:], "line break"},
		{whole[:middle] + " " + whole[middle:], "space"},
		{whole[:middle] + "x" + whole[middle+1:], "incomplete or was changed"},
		{strings.ToUpper(whole), "must begin with"},
		{strings.Replace(whole, "sgfleet1", "sgfleet2", 1), "another version"},
		{strings.Repeat("x", 5000), "too long"},
		{Token{Fleet: "a.b", NATS: "x"}.String(), "other characters"},
		{Token{Fleet: "home", Hub: token.Hub, Number: 1, CA: token.CA, Seed: "SUA"}.String(), "invalid"},
		{Token{Fleet: "home", Hub: token.Hub, Number: 1, CA: token.CA, Seed: token.Seed, Runs: true}.String(), "address"},
		{Token{Fleet: "home", Hub: token.Hub, Number: 0, CA: token.CA, Seed: token.Seed}.String(), "does not name a hub"},
	} {
		if _, err := ParseToken(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60q: %v, and not %q", c.text, err, c.says)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(newToken(f).String())
	f.Add("sgfleet1--00000000")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			return
		}
		again, err := ParseToken(token.String())
		check(t, err)
		if again.String() != token.String() {
			t.Errorf("%q is another token when it is written again", text)
		}
	})
}

func TestHubAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1:47422", "10.0.0.1:99": "10.0.0.1:99", "a.example.org": "a.example.org:47422", "a.example.org:1": "a.example.org:1",
		"::1": "[::1]:47422", "[::1]:99": "[::1]:99",
	} {
		hub, err := ParseHub(text)
		check(t, err)
		if hub.Address() != want {
			t.Errorf("%q is %q", text, hub.Address())
		}
	}
	for _, bad := range []string{"", ":99", "a b", "a:x", "a:0", "a:65535", "a:-1", "-a", "http://a", "a,b", "a/b", "[::1", strings.Repeat("a", 300)} {
		if hub, err := ParseHub(bad); err == nil {
			t.Errorf("%q is %v", bad, hub)
		}
	}
}

func FuzzParseHub(f *testing.F) {
	f.Add("10.0.0.1:99")
	f.Add("[::1]:99")
	f.Fuzz(func(t *testing.T, text string) {
		hub, err := ParseHub(text)
		if err != nil {
			return
		}
		again, err := ParseHub(hub.Address())
		if err != nil || again != hub {
			t.Errorf("%q is %v, and then %v (%v)", text, hub, again, err)
		}
	})
}

// A machine's identity is for its owner alone, and what is not one says so.
func TestIdentityOnDisk(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, ErrNone) {
		t.Errorf("without a file: %v", err)
	}
	id := newFleet(t, dir)
	got, err := Load(dir)
	check(t, err)
	if got.Fleet != id.Fleet || got.Key != id.Key || got.CA != id.CA {
		t.Errorf("%+v became %+v", id, got)
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"", seedFile, authorityFile, "hub", "hub/" + hubKeyFile} {
			info, err := os.Stat(filepath.Join(Dir(dir), name))
			check(t, err)
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("others can read %s: %s", name, info.Mode())
			}
		}
		check(t, os.Chmod(filepath.Join(Dir(dir), seedFile), 0o644))
		if _, err := MakeKey(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a key that others can read is used: %v", err)
		}
	}
	for _, bad := range []string{"", "{", `{"v":2,"fleet":"a","name":"b"}`, `{"v":1,"fleet":"a.>","name":"b","nats":"x"}`, `{"v":1,"fleet":"a","name":"b"}`, `{"v":1,"fleet":"a","name":"b","nats":"x","hub":3}`} {
		check(t, os.WriteFile(id.path(dir), []byte(bad), 0o600))
		if _, err := Load(dir); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	check(t, Forget(dir))
	if _, err := Load(dir); !errors.Is(err, ErrNone) {
		t.Errorf("after it was forgotten: %v", err)
	}
}

// newFleet makes a machine the founder of a fleet.
func newFleet(t *testing.T, dir string) Identity {
	t.Helper()
	authority, err := NewAuthority("home", time.Now())
	check(t, err)
	check(t, authority.Save(dir))
	id := Identity{Fleet: "home", Name: "a", User: "anna", CA: authority.PEM(), Hubs: []Hub{{"127.0.0.1", 1}}, Hub: 1}
	id.Key, err = MakeKey(dir)
	check(t, err)
	request, err := RequestCertificate(dir)
	check(t, err)
	certificate, err := authority.Sign(id.Hubs[0], 1, request, time.Now())
	check(t, err)
	check(t, SaveHub(dir, certificate, []Record{{Name: "a", User: "anna", Key: id.Key, Hub: 1}}))
	check(t, id.Save(dir))
	return id
}

// A key is made once: a join that is repeated has the same one.
func TestAKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	first, err := MakeKey(dir)
	check(t, err)
	second, err := MakeKey(dir)
	check(t, err)
	if first != second {
		t.Error("there are two keys")
	}
}

// Only a record that a hub of the fleet has signed, for its place, is one.
func TestRecordsAreSigned(t *testing.T) {
	dir, otherDir := t.TempDir(), t.TempDir()
	id, other := newFleet(t, dir), newFleet(t, otherDir)
	hub, err := HubCertificate(dir, id)
	check(t, err)
	foreign, err := HubCertificate(otherDir, other)
	check(t, err)
	record := Record{Name: "b", User: "bert", Key: id.Key, Time: time.Now().UTC()}
	before := store.Hash{1, 2, 3}
	event := func(fleet string, previous store.Hash, by *tls.Certificate) store.Event {
		data, err := record.Sign(fleet, before, by)
		check(t, err)
		return store.Event{Subject: link.MemberOf("b"), Previous: previous, Data: data}
	}
	got, err := id.Read(event("home", before, hub))
	check(t, err)
	if got != record {
		t.Errorf("%+v became %+v", record, got)
	}
	moved := event("home", before, hub)
	moved.Subject = link.MemberOf("c")
	changed := event("home", before, hub)
	changed.Data = bytes.Replace(changed.Data, []byte("bert"), []byte("anna"), 1)
	for what, e := range map[string]store.Event{
		"one without a signature":         event("home", before, nil),
		"one of another fleet's hub":      event("home", before, foreign),
		"one for another fleet":           event("work", before, hub),
		"an old one that is brought back": event("home", store.Hash{4}, hub),
		"one under another member's name": moved,
		"one that was changed":            changed,
		"something else":                  {Subject: link.MemberOf("b"), Data: []byte("x")},
		"nothing":                         {Subject: link.MemberOf("b")},
		"a record without a certificate":  {Subject: link.MemberOf("b"), Data: []byte(`{"record":{"name":"b","user":"bert"}}`)},
		"a record with a bad certificate": {Subject: link.MemberOf("b"), Data: []byte(`{"record":{"name":"b","user":"bert"},"certificate":"AAAA"}`)},
	} {
		if r, err := id.Read(e); err == nil {
			t.Errorf("%s is %+v", what, r)
		}
	}
	external := Identity{Fleet: "home", Name: "a", NATS: "nats://example.org"}
	if _, err := external.Read(event("home", before, nil)); err != nil {
		t.Errorf("a fleet without hubs has records without signatures: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	authority, err := NewAuthority("home", time.Now())
	check(f, err)
	id := Identity{Fleet: "home", Name: "a", User: "anna", CA: authority.PEM(), Hubs: []Hub{{"127.0.0.1", 1}}}
	f.Add([]byte(`{"record":{"name":"b","user":"bert"},"certificate":"AAAA","signature":"AAAA"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := id.Read(store.Event{Subject: link.MemberOf("b"), Data: data}); err == nil {
			t.Errorf("%q is %+v", data, r)
		}
	})
}

func TestUserNames(t *testing.T) {
	for _, good := range []string{"anna", "Anna.B-1_x"} {
		check(t, CheckUser(good))
	}
	for _, bad := range []string{"", "a b", "a\nb", "*", "ä", strings.Repeat("a", 65)} {
		if CheckUser(bad) == nil {
			t.Errorf("%q is a user", bad)
		}
	}
}

// What a machine signs is known to be its own, and nothing else is.
func TestIssue20WhatAMachineSigns(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if signature, err := Sign(dir, []byte("x")); err != nil || signature != nil {
		t.Errorf("without a key: %v", err)
	}
	key, err := MakeKey(dir)
	check(t, err)
	stranger, err := MakeKey(other)
	check(t, err)
	signature, err := Sign(dir, []byte("run it"))
	check(t, err)
	check(t, CheckSignature(key, []byte("run it"), signature))
	for name, wrong := range map[string]error{
		"other words":  CheckSignature(key, []byte("run that"), signature),
		"another key":  CheckSignature(stranger, []byte("run it"), signature),
		"no signature": CheckSignature(key, []byte("run it"), nil),
		"no key":       CheckSignature("", []byte("run it"), signature),
	} {
		if wrong == nil {
			t.Errorf("%s: it is taken for its own", name)
		}
	}
}
