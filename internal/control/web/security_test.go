package web

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// sample is a decision that can be answered.
func sample() daemonapi.Decision {
	return daemonapi.Decision{
		ID: "0123456789abcdef", Owner: "0123456789abcdef", Name: "release", Project: "/src/shop", Source: "step", Step: "approve",
		Context: "Release 2.4.0?", Created: time.Now(),
		Options: []daemonapi.Option{{Number: 1, Name: "release"}, {Number: 2, Name: "reject"}},
	}
}

const answerPath = "/inbox/0123456789abcdef/answer"

// A form that is not from a page of ours does nothing, whatever cookie comes with it.
func TestIssue18FormsOfOtherSitesDoNothing(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{sample()} })
	v, other := s.signedIn(), s.signedIn()
	good := func() url.Values { return url.Values{"csrf": {v.csrf()}, "option": {"1"}} }
	for name, change := range map[string]func(r *http.Request){
		"foreign origin":          func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"no origin":               func(r *http.Request) { r.Header.Del("Origin") },
		"opaque origin":           func(r *http.Request) { r.Header.Set("Origin", "null") },
		"origin by another port":  func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
		"origin by TLS":           func(r *http.Request) { r.Header.Set("Origin", "https"+strings.TrimPrefix(v.base, "http")) },
		"cross-site":              func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"same site, another port": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"foreign host":            func(r *http.Request) { r.Host = "evil.example" },
		"put":                     func(r *http.Request) { r.Method = http.MethodPut },
	} {
		t.Run(name, func(t *testing.T) {
			r := v.form(answerPath, good())
			change(r)
			if got := v.do(r); got.status < 400 {
				t.Errorf("%+v", got)
			}
		})
	}
	for name, values := range map[string]url.Values{
		"no token":                   {"option": {"1"}},
		"empty token":                {"csrf": {""}, "option": {"1"}},
		"token of another session":   {"csrf": {other.csrf()}, "option": {"1"}},
		"the cookie itself as token": {"csrf": {cookieOf(v)}, "option": {"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := v.do(v.form(answerPath, values)); got.status != http.StatusForbidden {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("token in the address", func(t *testing.T) {
		if got := v.do(v.form(answerPath+"?csrf="+v.csrf(), url.Values{"option": {"1"}})); got.status != http.StatusForbidden {
			t.Errorf("%+v", got)
		}
	})
	t.Run("no cookie", func(t *testing.T) {
		stranger := s.visitor()
		if got := stranger.do(stranger.form(answerPath, good())); got.status != http.StatusUnauthorized {
			t.Errorf("%+v", got)
		}
	})
	if len(s.plane.answers) > 0 {
		t.Fatalf("%+v", s.plane.answers)
	}
	if got := v.do(v.form(answerPath, good())); got.status != http.StatusOK || len(s.plane.answers) != 1 || s.plane.answers[0].Option != "release" {
		t.Errorf("%+v, %+v", got.status, s.plane.answers)
	}
}

func cookieOf(v *visitor) string {
	v.t.Helper()
	u, err := url.Parse(v.base)
	check(v.t, err)
	return v.Jar.Cookies(u)[0].Value
}

// A name that leads here by its owner's DNS shows nothing, not even with our cookie.
func TestIssue18OtherHostsShowNothing(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	port := v.base[strings.LastIndex(v.base, ":"):]
	for _, host := range []string{"evil.example", "evil.example" + port, "localhost" + port, "127.0.0.1", "127.0.0.1:1", "127.1" + port, "127.0.0.1." + port, "[::1]" + port, "127.0.0.1" + port + ".evil.example", "127.0.0.1@evil.example"} {
		for _, path := range []string{"/", "/live?page=/", "/enter?token=x", "/sw.js"} {
			r, err := http.NewRequest(http.MethodGet, v.base+path, http.NoBody)
			check(t, err)
			r.Host = host
			if got := v.do(r); got.status != http.StatusMisdirectedRequest && got.status != http.StatusBadRequest {
				t.Errorf("%s%s: %d", host, path, got.status)
			}
		}
	}
}

// Another site cannot have our pages loaded as a part of its own.
func TestIssue18OtherSitesLoadNothing(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	for _, mode := range []string{"no-cors", "cors", "websocket"} {
		r, err := http.NewRequest(http.MethodGet, v.base+"/inbox", http.NoBody)
		check(t, err)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", mode)
		if got := v.do(r); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", mode, got.status)
		}
	}
}

// A session of another user's daemon means nothing here.
func TestIssue18AnotherUsersCookieIsRefused(t *testing.T) {
	mine, theirs := newScene(t), newScene(t)
	v := mine.visitor()
	for name, value := range map[string]string{
		"another daemon's": cookieOf(theirs.signedIn()), "empty": "", "made up": secret(), "the hash": hash(cookieOf(mine.signedIn())), "1 MB": strings.Repeat("x", 12<<10),
	} {
		r, err := http.NewRequest(http.MethodGet, v.base+"/", http.NoBody)
		check(t, err)
		r.Header.Set("Cookie", "stopgate="+value)
		if got := v.do(r); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

// raw sends bytes as they are, and returns the status.
func (s *scene) raw(request string) string {
	s.t.Helper()
	host := strings.TrimPrefix(s.site.URL(), "http://")
	conn, err := net.Dial("tcp", host)
	check(s.t, err)
	defer conn.Close()
	check(s.t, conn.SetDeadline(time.Now().Add(time.Minute)))
	go func() { _, _ = conn.Write([]byte(strings.ReplaceAll(request, "HOST", host))) }()
	line, _ := bufio.NewReader(conn).ReadString('\n') // none where it hangs up
	return strings.TrimSpace(line)
}

// Paths lead to pages or nowhere: no file is read by them, and no redirect leads to another host.
func TestIssue18PathTricksLeadNowhere(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	cookie := cookieOf(v)
	for _, path := range []string{
		"/../ui.json", "/assets/../../ui.json", "/%2e%2e/ui.json", "/assets/%2e%2e%2f%2e%2e%2fui.json", "//evil.example/", "//evil.example/..", "/\\evil.example",
		"/inbox/", "/inbox//answer", "/.", "/assets/", "/assets/vendor/list.txt", "/inbox/%00/answer", "/inbox/../", "http://evil.example/", "*", "/%ff", "/sessions/..%2f..",
	} {
		got := s.raw("GET " + path + " HTTP/1.1\r\nHost: HOST\r\nCookie: stopgate=" + cookie + "\r\nConnection: close\r\n\r\n")
		if !strings.Contains(got, " 404 ") && !strings.Contains(got, " 400 ") && !strings.Contains(got, " 421 ") {
			t.Errorf("%q: %q", path, got)
		}
	}
	for _, page := range []string{"//evil.example/", "http://evil.example/", "/live?page=/live", "/sign-out", "/enter", "", "/../", "/assets/x", "%zz"} {
		if got := v.get("/live?page=" + url.QueryEscape(page)); got.status != http.StatusNotFound {
			t.Errorf("live %q: %d", page, got.status)
		}
	}
}

// What is far too long is refused without being kept.
func TestIssue18HugeRequestsAreRefused(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() { s.plane.decisions = []daemonapi.Decision{sample()} })
	v := s.signedIn()
	huge := strings.Repeat("x", 1<<20)
	for name, request := range map[string]string{
		"path":   "GET /" + huge + " HTTP/1.1\r\nHost: HOST\r\n\r\n",
		"query":  "GET /?after=" + huge + " HTTP/1.1\r\nHost: HOST\r\n\r\n",
		"header": "GET / HTTP/1.1\r\nHost: HOST\r\nX: " + huge + "\r\n\r\n",
		"cookie": "GET / HTTP/1.1\r\nHost: HOST\r\nCookie: stopgate=" + huge + "\r\n\r\n",
		"host":   "GET / HTTP/1.1\r\nHost: " + huge + "\r\n\r\n",
	} {
		if got := s.raw(request); strings.Contains(got, " 200 ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if r := v.get("/?after=" + strings.Repeat("x", longestAddress)); r.status != http.StatusRequestURITooLong {
		t.Errorf("%d", r.status)
	}
	r := v.do(v.form(answerPath, url.Values{"csrf": {v.csrf()}, "message": {huge}}))
	if r.status != http.StatusRequestEntityTooLarge || len(s.plane.answers) > 0 {
		t.Errorf("%d", r.status)
	}
}

// hurry sets a limit of time until the test ends.
func hurry(t *testing.T, limit *time.Duration, to time.Duration) {
	t.Helper()
	before := *limit
	*limit = to
	t.Cleanup(func() { *limit = before })
}

// A browser that promises a body and sends none, or half of it, holds no connection: it is answered, or
// cut off. It need not be signed in.
func TestIssue18SlowBodiesHoldNothing(t *testing.T) {
	hurry(t, &reading, 50*time.Millisecond)
	s := newScene(t)
	cookie := cookieOf(s.signedIn())
	for _, line := range []string{"POST /act/x", "POST /enter", "POST /inbox", "POST /none", "GET /", "GET /live?page=/", "GET /sw.js", "PUT /"} {
		for _, head := range []string{"Content-Length: 10\r\n\r\n", "Content-Length: 10\r\n\r\ncode=", "Transfer-Encoding: chunked\r\n\r\n"} {
			for _, who := range []string{"", "Cookie: stopgate=" + cookie + "\r\n"} {
				request := line + " HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nContent-Type: application/x-www-form-urlencoded\r\n" + who + head
				if !s.ends(request) {
					t.Errorf("%q is held", request)
				}
			}
		}
	}
}

// ends reports whether the site answers a request and hangs up.
func (s *scene) ends(request string) bool {
	s.t.Helper()
	host := strings.TrimPrefix(s.site.URL(), "http://")
	conn, err := net.Dial("tcp", host)
	check(s.t, err)
	defer conn.Close()
	check(s.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = conn.Write([]byte(strings.ReplaceAll(request, "HOST", host)))
	check(s.t, err)
	_, err = io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// hostile is a text as an agent may write it: HTML, a template, an address, escape sequences, text that
// runs the other way, an end of a line.
const hostile = `</script></textarea></title><script>alert(1)</script>"'><img src=x onerror=alert(1)>{{.}} javascript:alert(1)` + "\x1b[31m\x1b]0;t\a\u202e\x00\r\n\ndata: x\n\nevent: main"

// fill puts a text into every field that a value has, and two items into every list.
func fillWith(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillWith(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fillWith(v.Index(i), text)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Elem().Kind() == reflect.String {
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Now()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillWith(v.Field(i), text)
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(1.5)
	}
}

func filled[T any](text string) (v T) {
	fillWith(reflect.ValueOf(&v).Elem(), text)
	return v
}

// fillPlane gives a plane one of everything, with a text in every field, in each state that has a look of its own.
func fillPlane(p *fakePlane, text string) {
	p.set(func() {
		p.status.Trouble = []string{text}
		open := filled[daemonapi.Decision](text)
		open.ID, open.Owner, open.Resolved = "0123456789abcdef", "0123456789abcdef", nil
		single := open
		single.ID, single.Ask = "1123456789abcdef", &daemonapi.Ask{Tool: text, Plan: text, Input: text, Questions: []daemonapi.Question{{Question: text}}}
		single.Source = "question"
		past := open
		past.ID, past.Resolved = "2123456789abcdef", &past.Created
		p.decisions = []daemonapi.Decision{open, single, past}
		for _, status := range []string{"running", "queued", "waiting", "held", "failed", "done", text} {
			o := filled[daemonapi.Owner](text)
			o.ID, o.Status, o.Decision = "0123456789abcdef", status, nil
			p.owners = append(p.owners, o)
		}
		p.sessions = []daemonapi.Session{filled[daemonapi.Session](text)}
		p.agents = []daemonapi.Agent{filled[daemonapi.Agent](text)}
		p.pipelines.graph, p.pipelines.log = filled[daemonapi.Graph](text), text
		p.diff.Text = fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n@@ -1 +1 @@ %[1]s\n-%[1]s\n+%[1]s\n", strings.ReplaceAll(text, "\n", " "))
	})
}

// Whatever an agent writes, on each page it is text: it makes no element, no attribute and no address, and
// has no control characters.
func TestIssue18WhatAgentsWriteIsText(t *testing.T) {
	s := newScene(t)
	s.hears(hostile)
	fillPlane(s.plane, hostile)
	v := s.signedIn()
	for _, p := range Pages() {
		t.Run(p.Template, func(t *testing.T) {
			r := v.get(addressOf(p))
			if r.status >= 500 {
				t.Fatalf("%d: %s", r.status, r.body)
			}
			harmless(t, r.body)
		})
	}
	t.Run("an error", func(t *testing.T) {
		s.plane.set(func() {
			s.plane.refusal = &daemonapi.Error{Failure: daemonapi.Failure{Code: "conflict", Error: hostile, Hint: hostile}}
		})
		r := v.do(v.form(answerPath, url.Values{"csrf": {v.csrf()}, "option": {"3"}, "message": {"x"}}))
		harmless(t, r.body)
	})
}

// Also what a template prints as it is has no control characters, and none that turn the text.
func TestIssue18NoControlCharacterReachesAPage(t *testing.T) {
	d, err := execute("now", nowPage{Held: []daemonapi.Owner{{ID: "a\x1b[31m\x00\u202eb", Name: "x"}}})
	check(t, err)
	if !strings.Contains(string(d.main), `id="o-a[31m`) {
		t.Fatalf("%s", d.main)
	}
	harmless(t, string(d.main))
}

// harmless fails for what the hostile text must not become.
func harmless(t *testing.T, body string) {
	t.Helper()
	if at := strings.IndexFunc(body, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\u202e' }); at >= 0 {
		t.Errorf("a control character: %q", body[max(0, at-100):min(len(body), at+20)])
	}
	for _, tag := range tags.Get().FindAllString(body, -1) {
		bare := values.Get().ReplaceAllString(tag, "=")
		if strings.HasPrefix(tag, "<img") || tag == "<script>" || handlers.Get().MatchString(bare) {
			t.Errorf("an element: %s", tag)
		}
		for _, address := range addresses.Get().FindAllStringSubmatch(tag, -1) {
			if !strings.HasPrefix(address[1], "/") && !strings.HasPrefix(address[1], "#") {
				t.Errorf("an address: %s", tag)
			}
		}
	}
}

var (
	tags      = lazyregexp.New(`<[a-zA-Z](?:"[^"]*"|'[^']*'|[^>"'])*>`)
	values    = lazyregexp.New(`="[^"]*"|='[^']*'`)
	handlers  = lazyregexp.New(`(?i)[ /]on[a-z]+|[ /]style`)
	addresses = lazyregexp.New(`(?:href|src|action)="([^"]*)"`)
)

// A name of a megabyte makes no page of a megabyte.
func TestIssue18HugeNamesAreCut(t *testing.T) {
	s := newScene(t)
	huge := strings.Repeat("name ", 200_000)
	s.hears(huge[:10<<10]) // a record has a limit of its own
	fillPlane(s.plane, huge)
	s.plane.set(func() {
		for i := range s.plane.decisions { // words of agents are bounded where they are recorded
			s.plane.decisions[i].Context, s.plane.decisions[i].Ask, s.plane.decisions[i].Details = huge[:1000], nil, nil
		}
	})
	v := s.signedIn()
	for _, p := range Pages() {
		if r := v.get(addressOf(p)); len(r.body) > 200<<10 || r.status >= 500 {
			t.Errorf("%s: %d, %d bytes", p.Path, r.status, len(r.body))
		}
	}
}

// A page that panics is an error for that page alone.
func TestIssue18APanicStaysInItsPage(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.plane.set(func() { s.plane.panics = true })
	if r := v.get("/inbox"); r.status != http.StatusInternalServerError {
		t.Errorf("%d", r.status)
	}
	s.plane.set(func() { s.plane.panics = false })
	if !v.in() {
		t.Error("the site is gone")
	}
}
