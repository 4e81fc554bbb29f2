// Package webpush makes the requests that have a push service tell a browser something: RFC 8030, with the
// message encrypted for the browser (RFC 8291) and the sender named by its key (RFC 8292).
package webpush

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Subscription is a browser at its push service, as PushSubscription of a browser tells it.
type Subscription struct {
	Endpoint string
	Key      []byte // p256dh: the browser's public key
	Auth     []byte // a secret that it shares with us
}

// Check reports what is wrong with the browser's keys.
func (s Subscription) Check() error {
	if _, err := ecdh.P256().NewPublicKey(s.Key); err != nil {
		return err
	}
	if len(s.Auth) != 16 {
		return errors.New("the shared secret does not have 16 bytes")
	}
	return nil
}

// Options are the same for all browsers.
type Options struct {
	Key  []byte // our private key, by NewKey
	Now  time.Time
	Life time.Duration // for which the service keeps the message
}

// subject is where the people behind a sender can be reached.
const subject = "https://github.com/stopgate/stopgate"

// tokenLife is how long our word about who we are holds. Services take no more than a day.
const tokenLife = 12 * time.Hour

// NewKey is a new private key.
func NewKey() ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return key.Bytes(), nil
}

// Public is the public key of a private one, in the form that browsers want it to subscribe.
func Public(private []byte) (string, error) {
	key, err := ecdh.P256().NewPrivateKey(private)
	if err != nil {
		return "", err
	}
	return encode(key.PublicKey().Bytes()), nil
}

// Request is what sends a message to a browser.
func Request(ctx context.Context, to Subscription, message []byte, o Options) (*http.Request, error) {
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails

	body, err := encrypt(to, message, own, salt)
	if err != nil {
		return nil, err
	}
	token, err := identify(to.Endpoint, o)
	if err != nil {
		return nil, err
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	request.Header.Set("Authorization", token)
	request.Header.Set("Content-Encoding", "aes128gcm")
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("TTL", strconv.Itoa(int(o.Life.Seconds())))
	request.Header.Set("Urgency", "high")
	return request, nil
}

// recordSize is how much a record may hold. There is one.
const recordSize = 4096

// encrypt makes one record of a message: only the browser can read it, with its own key and the secret.
func encrypt(to Subscription, message []byte, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	theirs, err := ecdh.P256().NewPublicKey(to.Key)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(theirs)
	if err != nil {
		return nil, err
	}

	public := own.PublicKey().Bytes()
	seed, err := hkdf.Key(sha256.New, shared, to.Auth, "WebPush: info\x00"+string(to.Key)+string(public), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, seed, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, seed, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}

	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}

	if len(message)+1+gcm.Overhead() > recordSize {
		return nil, fmt.Errorf("the message has %d bytes, which is too much", len(message))
	}
	head := append([]byte{}, salt...)
	head = binary.BigEndian.AppendUint32(head, recordSize)
	head = append(append(head, byte(len(public))), public...)
	last := append(append([]byte{}, message...), 2) // 2 ends the last record
	return gcm.Seal(head, nonce, last, nil), nil
}

// identify is the header by which a service knows the sender again.
func identify(endpoint string, o Options) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), o.Key)
	if err != nil {
		return "", err
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}

	claims, err := json.Marshal(map[string]any{"aud": u.Scheme + "://" + u.Host, "exp": o.Now.Add(tokenLife).Unix(), "sub": subject})
	if err != nil {
		return "", err
	}

	text := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return "vapid t=" + text + "." + encode(signature) + ", k=" + encode(public), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
