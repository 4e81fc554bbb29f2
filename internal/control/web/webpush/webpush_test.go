package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"
)

func decode(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(text)
	check(t, err)
	return b
}

// The example of RFC 8291, section 5.
func TestExampleOfTheStandard(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(decode(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	check(t, err)
	to := Subscription{
		Key:  decode(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		Auth: decode(t, "BTBZMqHH6r4Tts7J_aSIgg"),
	}
	check(t, to.Check())
	got, err := encrypt(to, []byte("When I grow up, I want to be a watermelon"), own, decode(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	check(t, err)
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_" +
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if encode(got) != want {
		t.Errorf("got %s\nwant %s", encode(got), want)
	}
}

// A browser reads what was sent, and the service knows who sent it.
func TestABrowserReadsIt(t *testing.T) {
	browser, err := ecdh.P256().GenerateKey(rand.Reader)
	check(t, err)
	to := Subscription{Endpoint: "https://push.example/x?y", Key: browser.PublicKey().Bytes(), Auth: []byte("0123456789abcdef")}
	key, err := NewKey()
	check(t, err)
	now := time.Now()
	r, err := Request(t.Context(), to, []byte("hello"), Options{Key: key, Now: now, Life: time.Hour})
	check(t, err)
	body, err := io.ReadAll(r.Body)
	check(t, err)
	if got := open(t, browser, to.Auth, body); got != "hello" {
		t.Errorf("read %q", got)
	}
	if r.Header.Get("TTL") != "3600" || r.Header.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("%v", r.Header)
	}

	token, public, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "vapid t="), ", k=")
	if want, _ := Public(key); public != want {
		t.Errorf("the key is %s, want %s", public, want)
	}
	parts := strings.Split(token, ".")
	signature, sum := decode(t, parts[2]), sha256.Sum256([]byte(parts[0]+"."+parts[1]))
	sender, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decode(t, public))
	check(t, err)
	if !ecdsa.Verify(sender, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is wrong")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	check(t, json.Unmarshal(decode(t, parts[1]), &claims))
	if claims.Aud != "https://push.example" || claims.Exp <= now.Unix() || claims.Exp > now.Add(24*time.Hour).Unix() || claims.Sub == "" {
		t.Errorf("%+v", claims)
	}
}

// open is what a browser does.
func open(t *testing.T, browser *ecdh.PrivateKey, auth, body []byte) string {
	t.Helper()
	salt, public, rest := body[:16], body[21:21+65], body[21+65:]
	theirs, err := ecdh.P256().NewPublicKey(public)
	check(t, err)
	shared, err := browser.ECDH(theirs)
	check(t, err)
	derive := func(secret, salt []byte, info string, size int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, size)
		check(t, err)
		return key
	}
	seed := derive(shared, auth, "WebPush: info\x00"+string(browser.PublicKey().Bytes())+string(public), 32)
	block, err := aes.NewCipher(derive(seed, salt, "Content-Encoding: aes128gcm\x00", 16))
	check(t, err)
	gcm, err := cipher.NewGCM(block)
	check(t, err)
	text, err := gcm.Open(nil, derive(seed, salt, "Content-Encoding: nonce\x00", 12), rest, nil)
	check(t, err)
	return strings.TrimSuffix(string(text), "\x02")
}

func TestWhatCannotBeSent(t *testing.T) {
	for _, to := range []Subscription{{Key: []byte("x"), Auth: make([]byte, 16)}, {Key: make([]byte, 65), Auth: make([]byte, 16)}, {}} {
		if to.Check() == nil {
			t.Errorf("%+v passed", to)
		}
		if _, err := Request(t.Context(), to, nil, Options{}); err == nil {
			t.Errorf("%+v was sent to", to)
		}
	}
	browser, err := ecdh.P256().GenerateKey(rand.Reader)
	check(t, err)
	key, err := NewKey()
	check(t, err)
	to := Subscription{Endpoint: "https://h", Key: browser.PublicKey().Bytes(), Auth: make([]byte, 16)}
	if _, err := Request(t.Context(), to, make([]byte, recordSize), Options{Key: key}); err == nil {
		t.Error("a message was sent that is too long")
	}
}
