package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

// cookieName is the cookie of a door. Under TLS the browser itself sees to it that no other host and no
// other path has set it.
func (d *door) cookieName() string {
	if d.tls != nil {
		return "__Host-stopgate"
	}
	return "stopgate"
}

// token is the browser's cookie, "" where it has none.
func (r *Request) token() string {
	c, err := r.Cookie(r.way.cookieName())
	if err != nil || len(c.Value) > longestValue {
		return ""
	}
	return c.Value
}

func (h *handler) setCookie(w http.ResponseWriter, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: h.way.cookieName(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: h.way.tls != nil, MaxAge: int(age / time.Second),
	})
}

// enter signs a browser in by a link, which is good for once. A browser that only fetches ahead does not
// use it up.
func (h *handler) enter(w http.ResponseWriter, r *Request) error {
	token := r.Value("token")
	ahead := strings.Contains(r.Header.Get("Sec-Purpose")+r.Header.Get("Purpose"), "prefetch") || r.Method == http.MethodHead
	if token == "" || ahead {
		h.askIn(w, r, http.StatusOK, "")
		return nil
	}
	if !h.invited.take(h.way.name, token) {
		h.askIn(w, r, http.StatusForbidden, "This link was used before, or is older than 5 minutes.")
		return nil
	}
	return h.letIn(w, r)
}

// enterByCode signs a browser in by a pairing code.
func (h *handler) enterByCode(w http.ResponseWriter, r *Request) error {
	if err := readForm(w, r, longestValue); err != nil || !h.invited.takeCode(h.way.name, r.PostForm.Get("code")) {
		why := "This code is wrong, was used before, or is older than 5 minutes."
		if h.invited.void() {
			why = "There were too many wrong codes: the code is void. Get a new one."
		}
		h.askIn(w, r, http.StatusForbidden, why)
		return nil
	}
	return h.letIn(w, r)
}

func (h *handler) letIn(w http.ResponseWriter, r *Request) error {
	cookie, err := h.book.enter(r.Context(), h.way.name)
	if err != nil {
		h.Log.Error("cannot keep a sign-in", "error", err)
		return &api.Error{Status: http.StatusServiceUnavailable, Failure: daemonapi.Failure{Code: "unavailable", Error: "The sign-in could not be kept.", Hint: "The daemon's log says why."}}
	}
	h.setCookie(w, cookie, longestSession)
	http.Redirect(w, r.Request, h.wanted(w, r), http.StatusSeeOther)
	return nil
}

// wantedCookie has the page that a browser asked for before it had signed in: a notification led there.
const wantedCookie = "stopgate-wanted"

// remember keeps the page that a browser asked for, until it has signed in.
func (h *handler) remember(w http.ResponseWriter, path string) {
	http.SetCookie(w, &http.Cookie{
		Name: wantedCookie, Value: url.PathEscape(path), Path: "/enter", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: h.way.tls != nil, MaxAge: int(inviteTime / time.Second),
	})
}

// wanted is the page that a browser asked for before, else the first one. Only a page of ours counts.
func (h *handler) wanted(w http.ResponseWriter, r *Request) string {
	c, err := r.Cookie(wantedCookie)
	if err != nil || len(c.Value) > longestValue {
		return "/"
	}
	http.SetCookie(w, &http.Cookie{Name: wantedCookie, Path: "/enter", MaxAge: -1})
	path, err := url.PathUnescape(c.Value)
	if err != nil || path != cleaned(path) || strings.ContainsAny(path, "\\?#\x00") {
		return "/"
	}
	return path
}

// askIn tells a person how to sign in.
func (h *handler) askIn(w http.ResponseWriter, r *Request, status int, why string) {
	if byScript(r) || r.URL.Path == "/live" {
		http.Error(w, "signed out", http.StatusUnauthorized)
		return
	}
	if status == http.StatusUnauthorized && r.Method == http.MethodGet && len(r.URL.Path) <= longestValue {
		h.remember(w, r.URL.Path)
	}
	d, err := execute("enter", struct {
		Why    string
		Codes  bool
		Listen string // a link for the machine itself is of no use to others
	}{why, h.way.tls != nil, h.way.wanted.Address})
	if err == nil {
		err = h.send(w, r, status, frame{Title: "Sign in", Path: r.URL.Path, Main: template.HTML(d.main)}, "")
	}
	if err != nil {
		h.fail(w, r, err, "")
	}
}

// signOut ends the browser's session.
func signOut(r *Request) (next string, err error) {
	return "/", r.site.book.leave(r.Context(), r.token())
}
