package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/people"
)

// permitLife is how long a link answers a decision, if that does not expire earlier.
const permitLife = 24 * time.Hour

// permit lets the one who has it give one answer to one decision, without a sign-in: it stands in a
// notification. An answered decision takes no other answer, so that it is good for once.
type permit struct {
	Decision string `json:"d"`
	Option   string `json:"o"`
	Expires  int64  `json:"e"` // seconds
}

// Links are what a notification carries.
type Links struct {
	Page    string          // where it is shown, for one who has signed in
	Answers []people.Answer // what answers it at once, from another device as well
}

// LinksTo are the links for a decision with options. They are empty while the site is off. Answers are there
// only where other devices reach the site, and trust its certificate.
func (s *Site) LinksTo(id string, options []string, expires time.Time) (l Links) {
	way, other := s.ways()
	if way == nil {
		return l
	}
	if other != nil {
		way = other
	}
	l.Page = way.url() + "/inbox/" + url.PathEscape(id)
	key := s.book.get().Key
	if way.tls == nil || way.wanted.Cert == "" || len(key) == 0 {
		return l
	}
	if last := s.Now().Add(permitLife); expires.IsZero() || expires.After(last) {
		expires = last
	}
	for _, option := range options {
		token := permit{id, option, expires.Unix()}.signed(key)
		l.Answers = append(l.Answers, people.Answer{Option: option, URL: way.url() + "/act/" + token})
	}
	return l
}

// PageOf is the address of a page for people who have signed in, "" while the site is off.
func (s *Site) PageOf(path string) string {
	local, other := s.ways()
	switch {
	case local == nil:
		return ""
	case other != nil:
		return other.url() + path
	}
	return local.url() + path
}

func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}

func (p permit) signed(key []byte) string {
	text, err := json.Marshal(p)
	if err != nil {
		return "" // three plain fields
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(macOf(key, text))
}

func macOf(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("answer\x00"))
	mac.Write(text)
	return mac.Sum(nil)
}

// readPermit is the permit of a token that we have signed.
func readPermit(token string, key []byte) (p permit, ok bool) {
	first, second, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(first)
	mac, wrong := base64.RawURLEncoding.Strict().DecodeString(second)
	if err != nil || wrong != nil || len(key) == 0 || !hmac.Equal(mac, macOf(key, text)) {
		return permit{}, false
	}
	return p, json.Unmarshal(text, &p) == nil
}

var errPermit = &api.Error{Status: http.StatusForbidden, Failure: daemonapi.Failure{
	Code: "forbidden", Error: "This link is no longer valid.", Hint: "Sign in with stopgate ui, and answer in the inbox.",
}}

// actPage is what the one who follows such a link sees.
type actPage struct {
	Ask, Option, Name string
	Answered          bool
	Path              string
}

// actByLink answers a decision by a link, or asks whether to: a program that only looks at the link answers nothing.
func (h *handler) actByLink(w http.ResponseWriter, r *Request) error {
	p, ok := readPermit(r.PathValue("token"), h.book.get().Key)
	if !ok || r.Now.Unix() >= p.Expires {
		return errPermit
	}
	d, err := r.Decision(r.Context(), p.Decision)
	if err != nil {
		return errPermit
	}
	if d.Resolved != nil {
		return &api.Error{Status: http.StatusGone, Failure: daemonapi.Failure{Code: "gone", Error: "This is answered already: " + settled(d) + "."}}
	}
	shown := actPage{Ask: d.Question(), Option: p.Option, Name: d.Name, Path: r.URL.EscapedPath()}
	if r.Method == http.MethodPost {
		if _, err := r.Answer(r.Context(), d.ID, daemonapi.Answer{ID: daemonapi.NewID(), Option: p.Option}); err != nil {
			return err
		}
		shown.Answered = true
	}
	drawn, err := execute("act", shown)
	if err != nil {
		return err
	}
	return h.send(w, r, http.StatusOK, frame{Title: "Answer", Path: "/act", Main: template.HTML(drawn.main)}, "")
}
