package web

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/control/people"
)

// services are the push services that the site of a scene speaks to.
type services struct {
	mu     sync.Mutex
	hosts  []string
	status int
	err    error
}

func (s *scene) services() *services {
	all := &services{status: http.StatusCreated}
	s.site.post = func(r *http.Request) (exchange.Reply, error) {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.hosts = append(all.hosts, r.URL.Host)
		return exchange.Reply{Status: all.status}, all.err
	}
	return all
}

func (a *services) asked() (hosts []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hosts, a.hosts = a.hosts, nil
	return hosts
}

// subscription is what a browser sends that a person has allowed notifications.
func (v *visitor) subscription(endpoint string) url.Values {
	v.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	check(v.t, err)
	return url.Values{
		"csrf": {v.csrf()}, "endpoint": {endpoint}, "key": {base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())},
		"auth": {base64.RawURLEncoding.EncodeToString(make([]byte, 16))},
	}
}

var news = people.Message{Title: "Pipeline needs attention", Text: "Publish?", Decision: decisionID}

// A browser that asked for it is told, until it is signed out or does not want it any more.
func TestIssue18BrowsersAreTold(t *testing.T) {
	s := newScene(t)
	push, v := s.services(), s.signedIn()
	if r := v.get("/"); !strings.Contains(r.body, `data-push="`) {
		t.Error("the page has no key")
	}
	told := func(want string) {
		t.Helper()
		check(t, s.site.Push(t.Context(), news))
		if got := strings.Join(push.asked(), " "); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	told("")
	v.do(v.form("/push", v.subscription("https://one.example/a")))
	told("one.example")
	v.do(v.form("/push", v.subscription("https://two.example/b"))) // the same browser, again
	told("two.example")

	s.end() // it is kept over a restart
	v.CloseIdleConnections()
	s.begin()
	push = s.services()
	told("two.example")

	v.do(v.form("/push/off", url.Values{"csrf": {v.csrf()}}))
	told("")
	v.do(v.form("/push", v.subscription("https://one.example/a")))
	s.ui(daemonapi.UIControl{SignOut: true})
	told("")
}

// A service that does not know a browser any more ends that; other trouble is told, without the address.
func TestIssue18PushServicesThatFail(t *testing.T) {
	s := newScene(t)
	push, v := s.services(), s.signedIn()
	v.do(v.form("/push", v.subscription("https://one.example/secret")))

	push.status = http.StatusInternalServerError
	if err := s.site.Push(t.Context(), news); err == nil || !strings.Contains(err.Error(), "one.example: status 500") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	push.err = &url.Error{Op: "Post", URL: "https://one.example/secret", Err: errors.New("no route")}
	if err := s.site.Push(t.Context(), news); err == nil || !strings.Contains(err.Error(), "no route") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	push.err, push.status = nil, http.StatusGone
	check(t, s.site.Push(t.Context(), news))
	push.asked()
	check(t, s.site.Push(t.Context(), news))
	if got := push.asked(); len(got) > 0 {
		t.Errorf("told %q", got)
	}
}

// What is not an address of a push service is refused, and so is every browser that does not trust the door.
func TestIssue18AddressesThatAreNotTold(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	for name, change := range map[string]func(url.Values){
		"no TLS":      func(f url.Values) { f.Set("endpoint", "http://one.example/a") },
		"no host":     func(f url.Values) { f.Set("endpoint", "https:///a") },
		"long":        func(f url.Values) { f.Set("endpoint", "https://one.example/"+strings.Repeat("a", longestEndpoint)) },
		"no key":      func(f url.Values) { f.Del("key") },
		"another key": func(f url.Values) { f.Set("key", "AAAA") },
		"no secret":   func(f url.Values) { f.Del("auth") },
		"no csrf":     func(f url.Values) { f.Del("csrf") },
	} {
		f := v.subscription("https://one.example/a")
		change(f)
		if r := v.do(v.form("/push", f)); r.status < 400 {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	if n := len(s.site.book.get().Subscribed); n > 0 {
		t.Errorf("%d are told", n)
	}
	if own := (&door{tls: nil}); !own.pushes() {
		t.Error("on this machine browsers are not told")
	}
	s, phone := reached(t)
	s.remoteSignedIn(phone)
	if r := phone.get("/"); !strings.Contains(r.body, `data-push="`) {
		t.Error("with a certificate of the person's browsers are not told")
	}
	phone.base = s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"}).Remote
	s.remoteSignedIn(phone)
	if r := phone.get("/"); r.status != http.StatusOK || strings.Contains(r.body, `data-push="`) {
		t.Errorf("with our own certificate browsers are told: %d", r.status)
	}
}
