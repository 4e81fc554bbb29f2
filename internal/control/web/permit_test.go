package web

import (
	"crypto/tls"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

const decisionID = "0123456789abcdef"

// reached is a scene whose site phones reach, with a decision that waits.
func reached(t *testing.T) (*scene, *visitor) {
	t.Helper()
	s := newScene(t)
	s.plane.decisions = []daemonapi.Decision{{ID: decisionID, Name: "release", Context: "Publish <b>1.4</b>?", Options: []daemonapi.Option{{Number: 1, Name: "publish"}}}}
	s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"}) // makes a certificate
	own := filepath.Join(s.state, "ui-cert.pem")
	ui := s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0", Cert: own, Key: own})
	jar, err := cookiejar.New(nil)
	check(t, err)
	return s, &visitor{t: t, base: ui.Remote, Client: &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
}

// remoteSignedIn signs a phone in.
func (s *scene) remoteSignedIn(phone *visitor) {
	s.t.Helper()
	wanted := s.site.book.get().Remote
	link := s.ui(daemonapi.UIControl{Listen: wanted.Address, Cert: wanted.Cert, Key: wanted.Key}).Link
	if r := phone.get(link); r.status != http.StatusOK {
		s.t.Fatalf("%+v", r)
	}
}

// act follows a link as a phone does that shows a notification: it has no cookie, and names no page.
func (v *visitor) act(method, link string) reply {
	v.t.Helper()
	r, err := http.NewRequest(method, link, http.NoBody)
	check(v.t, err)
	return v.do(r)
}

// The link of a notification answers a decision once, without a sign-in. Looking at it answers nothing.
func TestIssue18ALinkAnswersOnce(t *testing.T) {
	s, phone := reached(t)
	link := s.site.LinksTo(decisionID, []string{"publish"}, time.Time{}).Answers[0].URL

	r := phone.act(http.MethodGet, link)
	if r.status != http.StatusOK || !strings.Contains(r.body, "Publish &lt;b&gt;1.4") || len(s.plane.answers) > 0 {
		t.Fatalf("%+v, answers %v", r, s.plane.answers)
	}
	if r := phone.act(http.MethodPost, link); r.status != http.StatusOK || !strings.Contains(r.body, "Answered: publish") {
		t.Fatalf("%+v", r)
	}
	if len(s.plane.answers) != 1 || s.plane.answers[0].Option != "publish" {
		t.Fatalf("answers %+v", s.plane.answers)
	}

	now := time.Now()
	s.plane.set(func() { s.plane.decisions[0].Resolved, s.plane.decisions[0].Chosen = &now, "publish" })
	if r := phone.act(http.MethodPost, link); r.status != http.StatusGone || !strings.Contains(r.body, "answered already: publish") {
		t.Errorf("again: %+v", r)
	}
	if len(s.plane.answers) != 1 {
		t.Errorf("answers %+v", s.plane.answers)
	}
}

// A link that is old, was changed, or was signed before everyone was signed out answers nothing.
func TestIssue18LinksThatAnswerNothing(t *testing.T) {
	for name, spoil := range map[string]func(s *scene, link string) string{
		"after a day": func(s *scene, link string) string { s.passes(permitLife); return link },
		"after a sign-out": func(s *scene, link string) string {
			s.ui(daemonapi.UIControl{SignOut: true})
			return link
		},
		"another option": func(s *scene, link string) string {
			forged := permit{decisionID, "cancel", s.clock().Add(time.Hour).Unix()}.signed([]byte("another key"))
			return link[:strings.LastIndex(link, "/")+1] + forged
		},
		"its signature of another text": func(_ *scene, link string) string {
			_, mac, _ := strings.Cut(link[strings.LastIndex(link, "/"):], ".")
			forged, _, _ := strings.Cut(permit{decisionID, "cancel", 1 << 40}.signed(nil), ".")
			return link[:strings.LastIndex(link, "/")+1] + forged + "." + mac
		},
		"a part of it":  func(_ *scene, link string) string { return link[:len(link)-4] },
		"nothing of it": func(_ *scene, link string) string { return link[:strings.LastIndex(link, "/")+1] + "." },
		"by another name": func(s *scene, link string) string {
			u, _ := url.Parse(link)
			u.Host = "localhost:" + u.Port()
			return u.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, phone := reached(t)
			link := spoil(s, s.site.LinksTo(decisionID, []string{"publish"}, time.Time{}).Answers[0].URL)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if r := phone.act(method, link); r.status < 400 || strings.Contains(r.body, "Publish") {
					t.Errorf("%s: %+v", method, r)
				}
			}
			if len(s.plane.answers) > 0 {
				t.Errorf("answers %+v", s.plane.answers)
			}
		})
	}
}

// A link lives no longer than its decision.
func TestIssue18ALinkExpiresWithItsDecision(t *testing.T) {
	s, phone := reached(t)
	link := s.site.LinksTo(decisionID, []string{"publish"}, s.clock().Add(time.Minute)).Answers[0].URL
	s.passes(time.Minute)
	if r := phone.act(http.MethodPost, link); r.status != http.StatusForbidden || len(s.plane.answers) > 0 {
		t.Errorf("%+v", r)
	}
}

// Where a phone does not reach the page, or does not trust it, a message has no buttons; while the page is
// off it has no link either.
func TestIssue18NoButtonsThatDoNotWork(t *testing.T) {
	s := newScene(t)
	if l := s.site.LinksTo(decisionID, []string{"publish"}, time.Time{}); l.Page != "" || l.Answers != nil || s.site.PageOf("/x") != "" {
		t.Errorf("off: %+v", l)
	}
	ui := s.ui(daemonapi.UIControl{})
	if l := s.site.LinksTo(decisionID, []string{"publish"}, time.Time{}); l.Page != ui.URL+"/inbox/"+decisionID || l.Answers != nil {
		t.Errorf("on this machine: %+v", l)
	}
	ui = s.ui(daemonapi.UIControl{Listen: "127.0.0.1:0"})
	if l := s.site.LinksTo(decisionID, []string{"publish"}, time.Time{}); l.Page != ui.Remote+"/inbox/"+decisionID || l.Answers != nil {
		t.Errorf("with our own certificate: %+v", l)
	}
}
