package web

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// in reports whether a browser is signed in.
func (v *visitor) in() bool {
	v.t.Helper()
	return v.get("/").status == http.StatusOK
}

func TestIssue18ALinkWorksOnce(t *testing.T) {
	s := newScene(t)
	link := s.ui(daemonapi.UIControl{}).Link
	first, second := s.visitor(), s.visitor()
	if r := first.get(link); r.status != http.StatusOK || r.path != "/" || !first.in() {
		t.Fatalf("%+v", r)
	}
	if r := second.get(link); r.status != http.StatusForbidden || second.in() {
		t.Errorf("used twice: %+v", r)
	}
}

func TestIssue18AWrongLinkIsRefused(t *testing.T) {
	s := newScene(t)
	link := s.ui(daemonapi.UIControl{}).Link
	for _, wrong := range []string{link + "x", link[:len(link)-1], strings.Replace(link, "token=", "token=%00", 1), s.site.URL() + "/enter?token=" + secret(), strings.Replace(link, "token=", "token=x&token=", 1)} {
		v := s.visitor()
		if r := v.get(wrong); r.status != http.StatusForbidden || v.in() {
			t.Errorf("%s: %+v", wrong, r)
		}
	}
}

func TestIssue18ALinkExpires(t *testing.T) {
	s := newScene(t)
	link := s.ui(daemonapi.UIControl{}).Link
	s.passes(inviteTime + time.Second)
	v := s.visitor()
	if r := v.get(link); r.status != http.StatusForbidden || v.in() {
		t.Errorf("%+v", r)
	}
}

// Browsers and mail programs look at links before a person follows them.
func TestIssue18LookingAheadUsesNoLinkUp(t *testing.T) {
	s := newScene(t)
	link := s.ui(daemonapi.UIControl{}).Link
	v := s.visitor()
	head, err := http.NewRequest(http.MethodHead, link, http.NoBody)
	check(t, err)
	v.do(head)
	ahead, err := http.NewRequest(http.MethodGet, link, http.NoBody)
	check(t, err)
	ahead.Header.Set("Sec-Purpose", "prefetch;prerender")
	v.do(ahead)
	if v.in() {
		t.Error("signed in without a person")
	}
	if v.get(link); !v.in() {
		t.Error("the link was used up")
	}
}

func TestIssue18TheCookieIsForThisSiteAlone(t *testing.T) {
	s := newScene(t)
	v := s.visitor()
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := v.get(s.ui(daemonapi.UIControl{}).Link)
	cookie := r.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%q has no %s", cookie, part)
		}
	}
	if strings.Contains(cookie, "Domain") || r.header.Get("Location") != "/" {
		t.Errorf("%v", r.header)
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(cookie, "stopgate="), ";")
	path := filepath.Join(s.state, "ui.json")
	if text := checktest.Read(t, path); strings.Contains(text, value) || !strings.Contains(text, hash(value)) {
		t.Error("the file holds the cookie, or not its hash")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestIssue18SessionsEnd(t *testing.T) {
	for name, end := range map[string]func(s *scene){
		"idle":     func(s *scene) { s.passes(idleSession + time.Minute) },
		"sign-out": func(s *scene) { s.ui(daemonapi.UIControl{SignOut: true}) },
		"off": func(s *scene) {
			s.ui(daemonapi.UIControl{Off: true})
			s.ui(daemonapi.UIControl{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			v := s.signedIn()
			end(s)
			if v.in() {
				t.Error("still signed in")
			}
		})
	}
	t.Run("used each day for a month", func(t *testing.T) {
		s := newScene(t)
		v := s.signedIn()
		for range 30 {
			s.passes(23 * time.Hour)
			if !v.in() {
				t.Fatal("ended early")
			}
		}
		s.passes(31 * time.Hour)
		if v.in() {
			t.Error("still signed in")
		}
	})
	t.Run("by the browser's own button", func(t *testing.T) {
		s := newScene(t)
		v, other := s.signedIn(), s.signedIn()
		v.do(v.form("/sign-out", url.Values{"csrf": {v.csrf()}}))
		if v.in() || !other.in() {
			t.Error("not this one alone")
		}
	})
}

// After a restart of the daemon the page is where it was, and browsers are still signed in; after --off it
// is nowhere, and then where it was.
func TestIssue18TheAddressStays(t *testing.T) {
	s := newScene(t)
	if s.site.URL() != "" {
		t.Fatal("it listens although no person asked for it")
	}
	v := s.signedIn()
	before := s.site.URL()
	s.end()
	s.begin()
	if s.site.URL() != before || !v.in() {
		t.Errorf("%s, before %s", s.site.URL(), before)
	}
	s.ui(daemonapi.UIControl{Off: true})
	if _, err := v.Get(before); err == nil || s.site.URL() != "" {
		t.Error("it listens after --off")
	}
	s.end()
	s.begin()
	if s.site.URL() != "" {
		t.Error("it listens after --off and a restart")
	}
	if got := s.ui(daemonapi.UIControl{}).URL; got != before {
		t.Errorf("%s, before %s", got, before)
	}
}

// With a damaged or torn record the page still starts: browsers sign in again.
func TestIssue18ADamagedRecordCountsAsNone(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.end()
	checktest.Write(t, filepath.Join(s.state, "ui.json"), `{"on":true,"sess`)
	s.begin()
	s.ui(daemonapi.UIControl{})
	v.base = s.site.URL()
	if v.in() || !s.signedIn().in() {
		t.Error("the old session counts, or none can be made")
	}
}

// overTLS is a browser that takes any certificate.
func (s *scene) overTLS(ui daemonapi.UI) *visitor {
	s.t.Helper()
	v := s.visitor()
	v.base = ui.Remote
	v.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return v
}

// For other machines there is TLS only, a cookie that says so, and a code that can be typed.
func TestIssue18OtherMachinesComeByTLS(t *testing.T) {
	s := newScene(t)
	ui := s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	if !strings.HasPrefix(ui.Link, "https://127.0.0.1:") || ui.Fingerprint == "" || !strings.Contains(ui.QR, "▀") || len(ui.Code) != codeLength {
		t.Fatalf("%+v", ui)
	}
	v := s.overTLS(ui)
	var cookie string
	v.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		cookie = r.Response.Header.Get("Set-Cookie")
		return nil
	}
	if v.get(ui.Link); !v.in() {
		t.Fatal("not signed in")
	}
	if !strings.HasPrefix(cookie, "__Host-stopgate=") || !strings.Contains(cookie, "Secure") {
		t.Errorf("%q", cookie)
	}
	plain := s.visitor()
	plain.base = "http" + strings.TrimPrefix(ui.Remote, "https")
	if r, err := plain.Get(plain.base); err == nil {
		r.Body.Close()
		t.Errorf("without TLS: %s", r.Status)
	}
	before := ui.Fingerprint
	s.end()
	s.begin()
	if again := s.ui(daemonapi.UIControl{Listen: strings.TrimPrefix(ui.Remote, "https://")}); again.Fingerprint != before || again.Remote != ui.Remote {
		t.Errorf("%+v, before %s at %s", again, before, ui.Remote)
	}
}

// One door's session opens no other door.
func TestIssue18ASessionIsForItsDoor(t *testing.T) {
	s := newScene(t)
	local := s.signedIn()
	u, err := url.Parse(local.base)
	check(t, err)
	value := local.Jar.Cookies(u)[0].Value
	ui := s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	v := s.overTLS(ui)
	r, err := http.NewRequest(http.MethodGet, ui.Remote+"/", http.NoBody)
	check(t, err)
	r.AddCookie(&http.Cookie{Name: "__Host-stopgate", Value: value})
	if got := v.do(r); got.status != http.StatusUnauthorized {
		t.Errorf("%d", got.status)
	}
	if r := s.visitor().get(strings.Replace(ui.Link, ui.Remote, s.site.URL(), 1)); r.status != http.StatusForbidden {
		t.Errorf("a link for other machines works on this one: %d", r.status)
	}
}

// A pairing code can be typed a few times only.
func TestIssue18ACodeCannotBeGuessed(t *testing.T) {
	s := newScene(t)
	ui := s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	v := s.overTLS(ui)
	enter := func(code string) reply { return v.do(v.form("/enter", url.Values{"code": {code}})) }
	typed := strings.ToLower(ui.Code[:4] + "-" + ui.Code[4:])
	if r := enter(typed); r.status != http.StatusOK || !v.in() {
		t.Fatalf("%+v", r)
	}
	v = s.overTLS(ui)
	if r := enter(ui.Code); r.status != http.StatusForbidden {
		t.Errorf("used twice: %+v", r)
	}
	ui = s.ui(daemonapi.UIControl{Listen: strings.TrimPrefix(ui.Remote, "https://")})
	for range mostGuesses {
		if r := enter("AAAAAAAA"); r.status != http.StatusForbidden {
			t.Fatalf("%+v", r)
		}
	}
	if r := enter(ui.Code); r.status != http.StatusForbidden || v.in() || !strings.Contains(r.body, "the code is void") || !strings.Contains(r.body, "stopgate ui --listen 127.0.0.1:") {
		t.Errorf("after %d wrong ones: %+v", mostGuesses, r)
	}
	if ui := s.ui(daemonapi.UIControl{}); ui.Code != "" {
		t.Errorf("a code on this machine: %q", ui.Code)
	}
}

// A browser that asked for a page before it had signed in gets that page then, and never one of another site.
func TestIssue18SignInLeadsToThePageThatWasWanted(t *testing.T) {
	s := newScene(t)
	v := s.visitor()
	if r := v.get("/inbox"); r.status != http.StatusUnauthorized {
		t.Fatalf("%+v", r)
	}
	if r := v.get(s.ui(daemonapi.UIControl{}).Link); r.path != "/inbox" {
		t.Errorf("led to %s", r.path)
	}
	if r := v.get(s.ui(daemonapi.UIControl{}).Link); r.path != "/" { // once
		t.Errorf("led to %s again", r.path)
	}
	for _, other := range []string{"//evil.example/", "/%5Cevil.example", "https://evil.example/", "/a/../b", "/x?y", "%zz", ""} {
		v := s.visitor()
		u, err := url.Parse(v.base)
		check(t, err)
		u.Path = "/enter"
		v.Jar.SetCookies(u, []*http.Cookie{{Name: wantedCookie, Value: other, Path: "/enter"}})
		if r := v.get(s.ui(daemonapi.UIControl{}).Link); r.path != "/" {
			t.Errorf("%q led to %s", other, r.path)
		}
	}
}
