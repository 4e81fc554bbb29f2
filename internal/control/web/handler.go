package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// maxForm bounds what a browser can send.
	maxForm = 256 << 10
	// writing is how long a browser may take to take what it asked for.
	writing = 20 * time.Second
	// longestAddress bounds the paths and parameters that are looked at.
	longestAddress = 4 << 10
)

// reading is how long a browser may take to send a form, asking how long a request may take in all: only
// a stream lives longer. Tests shorten them.
var (
	reading = 10 * time.Second
	asking  = 20 * time.Second
)

// policy lets a page load nothing that is not ours, and be part of no other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// handler answers what comes through one door.
type handler struct {
	*Site
	way *door
	mux *http.ServeMux
}

func newHandler(s *Site, way *door) *handler {
	h := &handler{Site: s, way: way, mux: http.NewServeMux()}
	for _, p := range Pages() {
		h.mux.HandleFunc("GET "+p.Path, h.signedIn(func(w http.ResponseWriter, r *Request, csrf string) error { return h.page(w, r, &p, csrf) }))
	}
	for _, a := range Actions() {
		h.mux.HandleFunc("POST "+a.Path, h.signedIn(func(w http.ResponseWriter, r *Request, csrf string) error { return h.act(w, r, &a, csrf) }))
	}
	h.mux.HandleFunc("GET /act/{token}", h.open(h.actByLink))
	h.mux.HandleFunc("POST /act/{token}", h.open(h.actByLink))
	h.mux.HandleFunc("GET /live", h.signedIn(h.live))
	h.mux.HandleFunc("GET /enter", h.open(h.enter))
	h.mux.HandleFunc("POST /enter", h.open(h.enterByCode))
	h.mux.HandleFunc("/", h.signedIn(func(http.ResponseWriter, *Request, string) error { return missing("There is no such page.") }))
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin") // with no-referrer browsers would send our own forms with the Origin null
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")

	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writing))
	limit := asking
	if r.ContentLength != 0 { // net/http reads what a handler leaves of a body before it sends the answer
		limit = reading
	}
	_ = control.SetReadDeadline(time.Now().Add(limit))

	if why := h.refuse(r); why != nil {
		http.Error(w, why.Failure.Error, why.Status)
		return
	}
	if a, forever := findAsset(r.URL.Path); a != nil {
		a.serve(w, r, forever)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// refuse is why a request is not answered, signed in or not.
func (h *handler) refuse(r *http.Request) *api.Error {
	refused := func(status int, format string, args ...any) *api.Error {
		return &api.Error{Status: status, Failure: daemonapi.Failure{Error: fmt.Sprintf(format, args...)}}
	}

	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case !h.way.is(r.Host): // another name may be one that leads here by its owner's DNS
		return refused(http.StatusMisdirectedRequest, "this is not %.100q; use the address that stopgate ui prints", r.Host)
	case len(r.RequestURI) > longestAddress:
		return refused(http.StatusRequestURITooLong, "the address is too long")
	case r.URL.Path != cleaned(r.URL.Path) || strings.ContainsAny(r.URL.Path, "\\\x00"):
		return refused(http.StatusNotFound, "there is no such page")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		if site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return refused(http.StatusForbidden, "another site asks for this")
		}
		if r.ContentLength != 0 {
			return refused(http.StatusBadRequest, "this method has no body")
		}
	case r.Method != http.MethodPost:
		return refused(http.StatusMethodNotAllowed, "the method is not allowed")
	case strings.HasPrefix(r.URL.Path, "/act/"): // what counts is in the link itself; phones send it without an Origin
	case r.Header.Get("Origin") != h.way.origin(r.Host):
		return refused(http.StatusForbidden, "another site sends this")
	case site != "" && site != "same-origin":
		return refused(http.StatusForbidden, "another site sends this")
	}
	return nil
}

// cleaned is a path without tricks: no dots, no empty parts.
func cleaned(p string) string {
	if p == "" || p[0] != '/' {
		return ""
	}
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" {
		return "" // no page of ours ends so
	}
	return c
}

// open is a handler for browsers that have not signed in yet.
func (h *handler) open(answer func(w http.ResponseWriter, r *Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		r := h.request(hr)
		defer h.recovered(w, r)
		if err := answer(w, r); err != nil {
			h.fail(w, r, err, "")
		}
	}
}

// signedIn is a handler for those that have.
func (h *handler) signedIn(answer func(w http.ResponseWriter, r *Request, csrf string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		r := h.request(hr)
		defer h.recovered(w, r)
		cookie := r.token()
		if cookie == "" || !h.book.find(hr.Context(), cookie, h.way.name) {
			h.askIn(w, r, http.StatusUnauthorized, "")
			return
		}
		csrf := csrfOf(cookie)
		err := h.checkForm(w, r, csrf)
		if err == nil {
			err = answer(w, r, csrf)
		}
		if err != nil {
			h.fail(w, r, err, csrf)
		}
	}
}

func (h *handler) request(r *http.Request) *Request {
	return &Request{Request: r, Plane: h.Plane, Now: h.Now(), site: h.Site, way: h.way}
}

// recovered answers in place of a page that panicked.
func (h *handler) recovered(w http.ResponseWriter, r *Request) {
	trouble := recover()
	if trouble == nil {
		return
	}
	if trouble == http.ErrAbortHandler {
		panic(trouble)
	}
	h.Log.Error("a page failed", "path", r.URL.Path, "error", fmt.Sprintf("panic: %v\n%s", trouble, debug.Stack()))
	http.Error(w, "internal error; see the daemon's log", http.StatusInternalServerError)
}

// readForm reads a form of at most so many bytes. When it is there, the answer has its time: the end of
// the deadline for reading ends the request's context.
func readForm(w http.ResponseWriter, r *Request, most int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	err := r.ParseForm()
	if err == nil {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(asking))
	}
	return err
}

// checkForm reads a form that was posted, and checks that it is one of ours.
func (h *handler) checkForm(w http.ResponseWriter, r *Request, csrf string) error {
	if r.Method != http.MethodPost {
		return nil
	}
	if err := readForm(w, r, maxForm); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return &api.Error{Status: http.StatusRequestEntityTooLarge, Failure: daemonapi.Failure{Code: "too_large", Error: "That is too long."}}
		}
		return &api.Error{Status: http.StatusBadRequest, Failure: daemonapi.Failure{Code: "invalid", Error: "The form could not be read."}}
	}
	if !same(hash(r.PostForm.Get("csrf")), hash(csrf)) {
		return &api.Error{Status: http.StatusForbidden, Failure: daemonapi.Failure{Code: "forbidden", Error: "This form is too old, or not from this page.", Hint: "Open the page again."}}
	}
	r.Form = r.PostForm // nothing from the address
	return nil
}

// page answers with a page.
func (h *handler) page(w http.ResponseWriter, r *Request, p *Page, csrf string) error {
	d, err := h.draw(p, r)
	if err != nil {
		return err
	}
	f := frame{
		Title: p.Title, Path: r.URL.Path, Hash: d.hash, Main: template.HTML(d.main), Scripts: p.Scripts, Styles: p.Styles,
	}
	if address := r.URL.RequestURI(); len(address) <= longestValue { // live looks at no longer one
		f.Live = "/live?page=" + url.QueryEscape(address)
	}
	return h.send(w, r, http.StatusOK, f, csrf)
}

// send answers with what a frame has.
func (h *handler) send(w http.ResponseWriter, r *Request, status int, f frame, csrf string) error {
	f.Version, f.Signed = h.Version, csrf != ""
	if f.Signed {
		f.Push = h.pushKey()
		nav, err := h.navigation(r, f.Path)
		if err != nil {
			return err
		}
		f.Nav = template.HTML(nav)
	}
	text, err := h.whole(f)
	if err != nil {
		return err
	}
	text = fill(text, csrf)
	send(w, r.Request, status, "text/html; charset=utf-8", text, zip(text))
	return nil
}

// act has a form's wish done.
func (h *handler) act(w http.ResponseWriter, r *Request, a *Action, _ string) error {
	next, err := a.Do(r)
	if err != nil {
		return err
	}
	if byScript(r) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r.Request, next, http.StatusSeeOther)
	return nil
}

// byScript reports whether page.js asks, and not the browser itself.
func byScript(r *Request) bool { return r.Header.Get("Stopgate-Script") == "1" }

// fail shows what went wrong.
func (h *handler) fail(w http.ResponseWriter, r *Request, err error, csrf string) {
	failure := h.failureOf(r, err)
	if byScript(r) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(failure.Status)
		_, _ = w.Write([]byte(strings.TrimSpace(plain.Words(failure.Failure.Error) + " " + plain.Words(failure.Hint))))
		return
	}
	d, err := execute("error", failure)
	if err == nil {
		err = h.send(w, r, failure.Status, frame{Title: "Error", Path: r.URL.Path, Main: template.HTML(d.main)}, csrf)
	}
	if err != nil {
		h.Log.Error("cannot show an error", "error", err)
		http.Error(w, "internal error; see the daemon's log", http.StatusInternalServerError)
	}
}

// failureOf is what people are told of an error.
func (h *handler) failureOf(r *Request, err error) *api.Error {
	if e, ok := errors.AsType[*api.Error](err); ok {
		known := *e
		known.Status = cmp.Or(known.Status, api.StatusOf(known.Code))
		return &known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &api.Error{Status: http.StatusServiceUnavailable, Failure: daemonapi.Failure{Code: "unavailable", Error: "The daemon did not answer in time."}}
	}
	h.Log.Error("a page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	return &api.Error{Status: http.StatusInternalServerError, Failure: daemonapi.Failure{Code: "internal", Error: "Something went wrong.", Hint: "The daemon's log says more."}}
}
