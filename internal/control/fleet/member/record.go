package member

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
)

// Record is what the fleet knows of a member: the last event of its subject.
type Record struct {
	Name string    `json:"name"`
	User string    `json:"user"` // as the invitation said
	Key  string    `json:"key,omitempty"`
	Hub  int       `json:"hub,omitempty"` // the number of the hub that it runs
	Left bool      `json:"left,omitempty"`
	Time time.Time `json:"time"` // of this change
}

// Check checks what is used in subjects and permissions.
func (r Record) Check() error {
	if err := link.CheckName(r.Name); err != nil {
		return err
	}
	if err := CheckUser(r.User); err != nil {
		return err
	}
	if r.Key != "" && !nkeys.IsValidPublicUserKey(r.Key) {
		return fmt.Errorf("the key of %s is invalid", r.Name)
	}
	return nil
}

// CheckUser checks the name of a person.
func CheckUser(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if name == "" || len(name) > 64 || strings.Trim(name, letters) != "" {
		return fmt.Errorf("invalid user name %.80q: use 1 to 64 of a-z, A-Z, 0-9, dot, - and _", name)
	}
	return nil
}

// Signed is a record as it is in the fleet's store. Hubs alone may append one, and they sign it: JetStream sends
// its answers to any subject that a member names, whatever that member may publish, so that a subject alone
// does not prove who wrote an event, and a record says what its member may do elsewhere. The signature covers
// the hash of the event before it, so that an old record cannot be brought back.
type Signed struct {
	Record      json.RawMessage `json:"record"`
	Certificate []byte          `json:"certificate,omitempty"` // of the hub
	Signature   []byte          `json:"signature,omitempty"`
}

func digest(fleet string, previous store.Hash, record []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "stopgate fleet %s member\n", fleet)
	h.Write(previous[:])
	h.Write(record)
	return h.Sum(nil)
}

// Sign is the data of the event that follows one with that hash. Where the fleet has no hubs, there is no
// certificate, and the servers' permissions decide who may append it.
func (r Record) Sign(fleet string, previous store.Hash, hub *tls.Certificate) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	signed := Signed{Record: text}
	if hub != nil {
		key, ok := hub.PrivateKey.(*ecdsa.PrivateKey)
		if !ok {
			return nil, errors.New("the key of the hub is of another kind")
		}
		signed.Certificate = hub.Certificate[0]
		if signed.Signature, err = ecdsa.SignASN1(rand.Reader, key, digest(fleet, previous, text)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(signed)
}

// Read is the record in an event. Of a fleet with hubs it is one that a hub has signed.
func (id Identity) Read(e store.Event) (Record, error) {
	r, err := id.read(e)
	if err != nil {
		return Record{}, fmt.Errorf("event %d of %s is not a member's record: %w", e.Position, e.Subject, err)
	}
	return r, nil
}

func (id Identity) read(e store.Event) (r Record, err error) {
	var signed Signed
	if err := json.Unmarshal(e.Data, &signed); err != nil {
		return r, err
	}
	if id.NATS == "" {
		if err := id.verify(e, signed); err != nil {
			return r, err
		}
	}
	if err := json.Unmarshal(signed.Record, &r); err != nil {
		return r, err
	}
	if link.MemberOf(r.Name) != e.Subject {
		return r, errors.New("it names another member")
	}
	return r, r.Check()
}

// verify checks that a hub of the fleet signed a record for its place in the store.
func (id Identity) verify(e store.Event, signed Signed) error {
	pool, err := id.Pool()
	if err != nil {
		return err
	}
	certificate, err := x509.ParseCertificate(signed.Certificate)
	if err != nil {
		return err
	}
	use := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: use, CurrentTime: certificate.NotBefore}); err != nil {
		return err
	}
	key, ok := certificate.PublicKey.(*ecdsa.PublicKey)
	if !ok || !ecdsa.VerifyASN1(key, digest(id.Fleet, e.Previous, signed.Record), signed.Signature) {
		return errors.New("the signature is wrong")
	}
	return nil
}
