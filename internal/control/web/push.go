package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/control/people"
	"github.com/stopgate/stopgate/internal/control/web/webpush"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostSubscribed is how many browsers are told: those that asked last.
	mostSubscribed = 16
	// longestEndpoint bounds the address of a browser at its push service.
	longestEndpoint = 1024
	// pushPatience is how long a push service may take.
	pushPatience = 15 * time.Second
	// pushLife is how long a push service keeps a message for a browser that it does not reach.
	pushLife = 24 * time.Hour
)

// subscribed is a browser that is told about decisions also while the page is not open. It ends with its
// session.
type subscribed struct {
	Session  string `json:"session"` // the hash of its cookie
	Endpoint string `json:"endpoint"`
	Key      []byte `json:"key"`
	Auth     []byte `json:"auth"`
}

func (s subscribed) to() webpush.Subscription {
	return webpush.Subscription{Endpoint: s.Endpoint, Key: s.Key, Auth: s.Auth}
}

// pushes reports whether browsers that come in here can be told: they trust the door. On this machine they
// do so without a certificate.
func (d *door) pushes() bool { return d.tls == nil || d.wanted.Cert != "" }

// pushKey is the key by which browsers ask to be told, "" where they cannot be.
func (h *handler) pushKey() string {
	if !h.way.pushes() {
		return ""
	}
	public, err := webpush.Public(h.book.get().PushKey)
	if err != nil {
		return "" // of a record of an older version
	}
	return public
}

// subscribe has a browser be told.
func subscribe(r *Request) (next string, err error) {
	s := subscribed{Session: hash(r.token()), Endpoint: r.Value("endpoint")}
	var wrong error
	s.Key, err = base64.RawURLEncoding.DecodeString(r.Value("key"))
	s.Auth, wrong = base64.RawURLEncoding.DecodeString(r.Value("auth"))
	endpoint, unread := url.Parse(s.Endpoint)
	switch {
	case !r.way.pushes():
		return "", badRequest("Browsers do not allow notifications with this certificate.")
	case err != nil || wrong != nil || unread != nil || endpoint.Scheme != "https" || endpoint.Host == "" || len(s.Endpoint) > longestEndpoint || s.to().Check() != nil:
		return "", badRequest("This is not an address for notifications.")
	}
	return "/", r.site.book.change(r.Context(), func(rec *record, _ map[string]session) {
		rec.Subscribed = slices.DeleteFunc(slices.Clone(rec.Subscribed), func(other subscribed) bool {
			return other.Session == s.Session || other.Endpoint == s.Endpoint
		})
		rec.Subscribed = append([]subscribed{s}, rec.Subscribed...)
		rec.Subscribed = rec.Subscribed[:min(len(rec.Subscribed), mostSubscribed)]
	})
}

// unsubscribe has it be told no more.
func unsubscribe(r *Request) (next string, err error) {
	return "/", r.site.book.unsubscribe(r.Context(), func(s subscribed) bool { return s.Session == hash(r.token()) })
}

func (b *book) unsubscribe(ctx context.Context, which func(subscribed) bool) error {
	return b.change(ctx, func(rec *record, _ map[string]session) {
		rec.Subscribed = slices.DeleteFunc(slices.Clone(rec.Subscribed), which)
	})
}

// pushed is what browsers are told about a decision, as the service worker takes it.
type pushed struct {
	Title   string         `json:"title"`
	Body    string         `json:"body"`
	Tag     string         `json:"tag"`
	Path    string         `json:"path"`
	Actions []pushedAction `json:"actions,omitempty"`
}

type pushedAction struct {
	Title string `json:"title"`
	Path  string `json:"path"`
}

// mostActions is how many buttons browsers show.
const mostActions = 2

// Push tells all browsers that asked for it. What a push service says is gone is forgotten; the error is
// what went wrong with the others.
func (s *Site) Push(ctx context.Context, n people.Message) error {
	rec := s.book.get()
	if !rec.On || len(rec.Subscribed) == 0 || len(rec.PushKey) == 0 {
		return nil
	}
	text, err := json.Marshal(pushedOf(n))
	if err != nil {
		return err
	}
	errs := make([]error, len(rec.Subscribed))
	var all sync.WaitGroup
	for i, to := range rec.Subscribed {
		all.Go(func() { errs[i] = s.pushTo(ctx, to, rec.PushKey, text) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func pushedOf(n people.Message) pushed {
	p := pushed{
		Title: plain.Clip(plain.Line(n.Title), 120), Body: plain.Clip(plain.Line(n.Text), 300), Tag: n.Decision, Path: "/inbox/" + url.PathEscape(n.Decision),
	}
	for _, a := range n.Answers[:min(len(n.Answers), mostActions)] {
		if _, path, found := strings.Cut(a.URL, "/act/"); found {
			p.Actions = append(p.Actions, pushedAction{plain.Clip(plain.Line(a.Option), 40), "/act/" + path})
		}
	}
	return p
}

func (s *Site) pushTo(ctx context.Context, to subscribed, key, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, pushPatience)
	defer cancel()
	request, err := webpush.Request(ctx, to.to(), text, webpush.Options{Key: key, Now: s.Now(), Life: pushLife})
	if err != nil {
		return err
	}
	reply, err := s.post(request)
	switch {
	case err != nil:
		return fmt.Errorf("push to %s: %w", request.URL.Host, exchange.WithoutURL(err))
	case reply.Status == http.StatusNotFound || reply.Status == http.StatusGone: // the browser does not want it any more
		return s.book.unsubscribe(ctx, func(other subscribed) bool { return other.Endpoint == to.Endpoint })
	case !reply.OK():
		return fmt.Errorf("push to %s: status %d", request.URL.Host, reply.Status)
	}
	return nil
}

// post sends a request to a push service.
func post(request *http.Request) (exchange.Reply, error) {
	return exchange.Do(request, func(int) bool { return false })
}
