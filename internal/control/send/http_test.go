package send

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/session/wake"
)

// gateway records what it gets. The answer to the n-th request is the n-th of answers;
// after these, success.
type gateway struct {
	*httptest.Server
	mu      sync.Mutex
	got     []request
	ran     []string // keys, each once: those of a gateway that honours them
	answers []answer
}

type request struct {
	Path, Key, Auth, Type, Agent string
	Body                         string
}

// answer reports whether the gateway has accepted the message.
type answer func(w http.ResponseWriter, r *http.Request) (accepted bool)

func newGateway(t *testing.T, answers ...answer) *gateway {
	g := &gateway{answers: answers}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h := r.Header
	g.mu.Lock()
	n := len(g.got)
	g.got = append(g.got, request{r.URL.Path, h.Get("Idempotency-Key"), h.Get("Authorization"), h.Get("Content-Type"), h.Get("User-Agent"), string(body)})
	reply := says(http.StatusOK, `{"ok":true,"runId":"r"}`)
	if n < len(g.answers) {
		reply = g.answers[n]
	}
	g.mu.Unlock()
	if key := h.Get("Idempotency-Key"); reply(w, r) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !slices.Contains(g.ran, key) {
			g.ran = append(g.ran, key)
		}
	}
}

// script sets the answers of a gateway that runs already.
func (g *gateway) script(answers ...answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = answers
}

// keys are those of all requests, in order.
func (g *gateway) keys() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var keys []string
	for _, r := range g.got {
		keys = append(keys, r.Key)
	}
	return keys
}

func says(status int, body string, header ...string) answer {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return status < 300
	}
}

// dies accepts the message and hangs up without a word.
func dies(w http.ResponseWriter, _ *http.Request) bool {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
	return true
}

// hangs answers nothing until the sender has had enough.
func hangs(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return false
}

func (g *gateway) openClaw() string {
	return fmt.Sprintf(`{"transport":"openclaw-http","url":%q,"token_env":"GATEWAY_TOKEN"}`, g.URL)
}

func (g *gateway) webhook() string {
	return fmt.Sprintf(`{"transport":"webhook","url":%q}`, g.URL+"/in?x=1")
}

func TestOpenClawRequests(t *testing.T) {
	l := letter(1)
	for _, test := range []struct {
		name, options string
		want          request
	}{
		{
			"agent", ``,
			request{Path: "/hooks/agent", Body: `{"message":BODY,"name":"stopgate","agentId":"warden","wakeMode":"now","deliver":false,"idempotencyKey":"key-1"}`},
		},
		{
			"agent with a session", `,"session_key":"agent:warden:hooks"`,
			request{Path: "/hooks/agent", Body: `{"message":BODY,"name":"stopgate","agentId":"warden","sessionKey":"agent:warden:hooks","sessionMode":"persistent","wakeMode":"now","deliver":false,"idempotencyKey":"key-1"}`},
		},
		{
			"wake", `,"endpoint":"wake","session_key":"agent:warden:main"`,
			request{Path: "/hooks/wake", Body: `{"text":BODY,"mode":"now","agentId":"warden","sessionKey":"agent:warden:main"}`},
		},
	} {
		for _, status := range []int{http.StatusOK, http.StatusAccepted} {
			t.Run(fmt.Sprint(test.name, status), func(t *testing.T) {
				g := newGateway(t, says(status, `{"ok":true}`))
				o := newOffice(t, strings.Replace(g.openClaw(), `"}`, `"`+test.options+`}`, 1))
				o.put(l)
				o.run()
				want := test.want
				want.Key, want.Auth, want.Type, want.Agent = "key-1", "Bearer tok-3f9a-secret", "application/json", "stopgate/test"
				want.Body = strings.Replace(want.Body, "BODY", asJSON(t, l.Body), 1)
				if diff := cmp.Diff([]request{want}, g.got); diff != "" {
					t.Error(diff)
				}
				o.wantNoSecret("tok-3f9a-secret")
			})
		}
	}
}

func TestWebhook(t *testing.T) {
	for _, test := range []struct{ name, option, secret string }{
		{"signed", `,"secret_env":"HOOK_SECRET"`, "s3cret-77c1"},
		{"not signed", ``, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var header http.Header
			g := newGateway(t, func(w http.ResponseWriter, r *http.Request) bool {
				header = r.Header
				w.WriteHeader(http.StatusNoContent)
				return true
			})
			o := newOffice(t, strings.Replace(g.webhook(), `"}`, `"`+test.option+`}`, 1))
			o.Environ = append(o.Environ, "HOOK_SECRET=s3cret-77c1")
			l := letter(1)
			o.put(l)
			o.run()
			if len(g.got) != 1 || g.got[0].Path != "/in" || g.got[0].Key != "key-1" || g.got[0].Auth != "" {
				t.Fatalf("%+v", g.got)
			}
			var got wake.Letter
			check(t, json.Unmarshal([]byte(g.got[0].Body), &got))
			if diff := cmp.Diff(l, got); diff != "" {
				t.Error(diff)
			}
			want := ""
			if test.secret != "" {
				mac := hmac.New(sha256.New, []byte(test.secret))
				fmt.Fprintf(mac, "%d.%s", noon.Unix(), g.got[0].Body)
				want = "sha256=" + hex.EncodeToString(mac.Sum(nil))
			}
			if signature := header.Get("X-Stopgate-Signature"); signature != want || header.Get("X-Stopgate-Timestamp") != fmt.Sprint(noon.Unix()) {
				t.Errorf("signature %q, not %q; %v", signature, want, header)
			}
		})
	}
}

// What a gateway answers decides whether and when the letter is tried again.
func TestAnswers(t *testing.T) {
	const soon, later = time.Second, time.Minute
	for _, test := range []struct {
		name   string
		answer answer
		wait   time.Duration // 0: it is dead or delivered
		reason string        // why, in either case
	}{
		{"created is no word of OpenClaw's", says(201, ""), later, "HTTP 201 Created"},
		{"not for us to send", says(400, `{"ok":false,"error":"message required"}`), 0, "HTTP 400: message required"},
		{"a bad token", says(401, "Unauthorized", "Content-Type", "text/plain; charset=utf-8"), later, "HTTP 401: Unauthorized"},
		{"forbidden", says(403, `{"error":{"message":"no"}}`), later, "HTTP 403: no"},
		{"hooks are off", says(404, "Not Found", "Content-Type", "text/plain"), later, "HTTP 404: Not Found"},
		{"another address", says(405, ""), later, "HTTP 405 Method Not Allowed"},
		{"body too slow", says(408, ""), soon, "HTTP 408 Request Timeout"},
		{"at it already", says(409, `{"message":"busy"}`), soon, "HTTP 409: busy"},
		{"too large", says(413, ""), 0, "HTTP 413 Request Entity Too Large"},
		{"not to be processed", says(422, ""), 0, "HTTP 422 Unprocessable Entity"},
		{"too early", says(425, ""), soon, "HTTP 425 Too Early"},
		{"too many", says(429, ""), soon, "HTTP 429 Too Many Requests"},
		{"too many, with a time", says(429, "", "Retry-After", "97"), 97 * time.Second, "HTTP 429 Too Many Requests"},
		{"too many, with a date", says(429, "", "Retry-After", noon.Add(2*time.Minute).Format(http.TimeFormat)), 2 * time.Minute, "HTTP 429 Too Many Requests"},
		{"too many, with a date that is over", says(429, "", "Retry-After", noon.Add(-time.Hour).Format(http.TimeFormat)), soon, "HTTP 429 Too Many Requests"},
		{"far too long a time", says(503, "", "Retry-After", "99999999"), 10 * time.Minute, "HTTP 503 Service Unavailable"},
		{"no time at all", says(503, "", "Retry-After", "-5"), soon, "HTTP 503 Service Unavailable"},
		{"broken", says(500, "<html>"), soon, "HTTP 500 Internal Server Error"},
		{"bad gateway", says(502, `{"error":"no\nupstream"}`), soon, "HTTP 502: no upstream"},
		{"a redirect", says(307, "", "Location", "http://elsewhere.example/hooks"), later, "the gateway redirects to elsewhere.example; redirects are not followed"},
		{"a redirect to nowhere", says(304, ""), later, "HTTP 304 Not Modified"},
		{"a web page", says(200, "<html>", "Content-Type", "text/html; charset=utf-8"), later, "the gateway answered with a web page: check that its hooks are enabled and that the url is right"},
		{"yes and no", says(200, `{"ok":false,"error":"queue full"}`), soon, "HTTP 200: queue full"},
		{"the token comes back", says(401, `{"error":"bad token tok-3f9a-secret"}`), later, "HTTP 401: bad token […]"},
		{"hangs up", dies, soon, "cannot reach the gateway: EOF"},
		{"hangs", hangs, soon, "the gateway did not answer within 100ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGateway(t, test.answer)
			o := newOffice(t, g.openClaw())
			if test.name == "hangs" {
				o.request = 100 * time.Millisecond
			}
			o.put(letter(1))
			wait, reason, dead := o.try()
			if wait < test.wait || wait > test.wait+test.wait/10 || reason+dead != test.reason || (dead != "") != (test.wait == 0) {
				t.Errorf("tried again in %s: %q; dead: %q", wait, reason, dead)
			}
			if !strings.Contains(o.logged(), test.reason) {
				t.Errorf("the log does not tell:\n%s", o.logged())
			}
			o.wantNoSecret("tok-3f9a-secret")
			if dead == "" {
				o.request = patience
				o.run()
				if diff := cmp.Diff([]string{"key-1", "key-1"}, g.keys()); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// Letters arrive in order and always under the same key, whatever the gateway does in
// between.
func TestTroubledGateway(t *testing.T) {
	broken := says(500, "")
	g := newGateway(t, dies, broken, broken, hangs, says(200, ""), dies, says(429, "", "Retry-After", "30"), dies)
	o := newOffice(t, g.openClaw())
	o.request = 100 * time.Millisecond
	o.put(letters(3)...)
	o.run()
	want := []string{"key-1", "key-2", "key-3"}
	if diff := cmp.Diff(want, slices.Compact(g.keys())); diff != "" || len(g.got) < 10 {
		t.Errorf("%d requests: %s", len(g.got), diff)
	}
	if diff := cmp.Diff(want, g.ran); diff != "" {
		t.Errorf("where keys are honoured: %s", diff)
	}
	bodies := map[string]string{}
	for _, r := range g.got {
		if former, known := bodies[r.Key]; known && former != r.Body {
			t.Errorf("%s has two bodies:\n%s\n%s", r.Key, former, r.Body)
		}
		bodies[r.Key] = r.Body
	}
	if o.outbox().Waiting() || len(o.dead()) > 0 {
		t.Errorf("something is left: %v", o.dead())
	}
}

// A gateway that is down gets its letters when it is back.
func TestGatewayComesBack(t *testing.T) {
	g := &gateway{}
	g.Server = httptest.NewUnstartedServer(g)
	address := g.Listener.Addr().String()
	g.Listener.Close()
	o := newOffice(t, fmt.Sprintf(`{"transport":"webhook","url":"http://%s"}`, address))
	o.onWait = func(n int) {
		if n != 9 {
			return
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		g.Listener = listener
		g.Start()
		t.Cleanup(g.Close)
	}
	o.put(letters(3)...)
	o.run()
	if diff := cmp.Diff([]string{"key-1", "key-2", "key-3"}, g.keys()); diff != "" {
		t.Error(diff)
	}
	for i, wait := range o.waits {
		want := min(time.Second<<i, time.Minute)
		if wait < want || wait > want+want/10 {
			t.Errorf("wait %d took %s, not about %s", i, wait, want)
		}
	}
}

// Agents do not wait for each other.
func TestAgentsDoNotWaitForEachOther(t *testing.T) {
	for _, slow := range []string{"warden", "gideon"} {
		arrived := make(chan struct{})
		whoever := func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Idempotency-Key") == slow {
				<-arrived // for ever, if the other comes after this one
			} else {
				close(arrived)
			}
			return says(200, "")(w, r)
		}
		g := newGateway(t, whoever, whoever)
		o := newOffice(t, g.openClaw())
		o.request = patience
		for _, agent := range []string{"warden", "gideon"} {
			l := letter(1)
			l.Key, l.AgentID = agent, agent
			o.put(l)
		}
		o.run()
		if len(g.ran) != 2 {
			t.Errorf("arrived: %v", g.ran)
		}
	}
}

// A letter that is put while the sender is at it, or has just looked for the last time,
// is not left behind: the sender that its putter starts finds the box held.
func TestLetterPutInBetween(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, g.openClaw())
	late := letters(3)[1:]
	putOne := func() {
		if len(late) == 0 {
			return
		}
		o.put(late[0])
		late = late[1:]
		second := o.Sender
		second.emptied = nil
		if err := second.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
	g.script(func(w http.ResponseWriter, r *http.Request) bool {
		putOne()
		return says(200, "")(w, r)
	})
	o.emptied = putOne
	o.put(letter(1))
	o.run()
	if diff := cmp.Diff([]string{"key-1", "key-2", "key-3"}, g.keys()); diff != "" {
		t.Error(diff)
	}
}

// Two senders at once, with putters that each start one: everything arrives once.
func TestManySenders(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, g.openClaw())
	const putters, each = 4, 10
	var all sync.WaitGroup
	for p := range putters {
		all.Go(func() {
			for n := range each {
				l := letter(n)
				l.Key = fmt.Sprintf("%d-%d", p, n)
				if err := o.outbox().Put(l); err != nil {
					t.Error(err)
				}
				if err := o.Run(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	keys := g.keys()
	if len(keys) != putters*each || len(g.ran) != putters*each {
		t.Errorf("%d letters became %d requests with %d keys", putters*each, len(keys), len(g.ran))
	}
	for p := range putters {
		mine := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, fmt.Sprint(p, "-")) })
		for n, key := range mine {
			if key != fmt.Sprintf("%d-%d", p, n) {
				t.Errorf("out of order: %v", mine)
				break
			}
		}
	}
	if o.outbox().Waiting() {
		t.Error("something is left")
	}
}

// What cannot be delivered is dead in the end, and the next letter has its turn.
func TestGivingUp(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		after  time.Duration
		why    string
	}{
		{"a person does not put it right", 401, time.Hour, "not fixed within 1h0m0s: HTTP 401 Unauthorized"},
		{"it does not pass", 503, 24 * time.Hour, "not delivered within 24h0m0s: HTTP 503 Service Unavailable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			forFirst := func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Idempotency-Key") == "key-1" {
					return says(test.status, "", "Retry-After", "600")(w, r)
				}
				return says(200, "")(w, r)
			}
			g := newGateway(t, slices.Repeat([]answer{forFirst}, 3000)...)
			o := newOffice(t, g.openClaw())
			o.put(letters(2)...)
			o.run()
			dead := o.dead()
			if len(dead) != 1 || dead[0].Why != test.why || dead[0].Session != "warden-main" || dead[0].Kind != wake.Stop {
				t.Errorf("%+v", dead)
			}
			if passed := o.now().Sub(noon); passed < test.after || passed > test.after+22*time.Minute {
				t.Errorf("after %s", passed)
			}
			if keys := g.keys(); keys[len(keys)-1] != "key-2" || slices.Contains(keys[:len(keys)-1], "key-2") {
				t.Errorf("the second was not sent after the first: %v", keys[max(len(keys)-3, 0):])
			}
			if o.outbox().Waiting() {
				t.Error("something is left")
			}
		})
	}
}

// A gateway that stays broken does not have every letter wait for as long as the first:
// what is old enough is given up after one try, and what is new has its own time.
func TestGatewayStaysBroken(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		span   time.Duration
		atOnce int // letters that are not followed by a wait
	}{
		{"for a person", 401, fixTime, 3},
		{"by itself", 503, lifetime, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGateway(t, slices.Repeat([]answer{says(test.status, "", "Retry-After", "600")}, 3000)...)
			o := newOffice(t, g.openClaw())
			all := letters(4)
			all[3].Time = noon.Add(test.span / 2)
			o.put(all...)
			ctx, cancel := context.WithCancel(t.Context())
			o.onWait = func(int) {
				if len(o.dead()) == 3 && o.now().Sub(noon) > test.span+test.span/4 {
					cancel()
				}
			}
			check(t, o.Run(ctx))
			if waits, err := o.outbox().Box("warden").Waiting(); !waits || err != nil || len(o.dead()) != 3 {
				t.Errorf("%v, %v; dead: %+v", waits, err, o.dead())
			}
			tries := map[string]int{}
			for _, key := range g.keys() {
				tries[key]++
			}
			if tries["key-1"] < fewest || tries["key-2"] != 1 || tries["key-3"] != 1 || tries["key-4"] < 2 {
				t.Errorf("tries: %v", tries)
			}
			state, err := o.outbox().Box("warden").State()
			if err != nil || state.Tries != len(g.keys()) {
				t.Errorf("%+v, %v", state, err)
			}
			if len(o.waits) != len(g.keys())-test.atOnce {
				t.Errorf("%d waits and %d tries", len(o.waits), len(g.keys()))
			}
		})
	}
}

// A sender that waits for a person leaves its place to one that was started later, which
// has what that person has set. The state on disk tells that one since when.
func TestNewerSenderTakesOver(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, strings.ReplaceAll(g.openClaw(), "GATEWAY_TOKEN", "LATE_TOKEN"))
	o.put(letters(2)...)
	began := 0
	var newer []string
	o.onWait = func(n int) {
		state, err := o.outbox().Box("warden").State()
		if err != nil || !state.Since.Equal(noon) || state.Sender == "" || slices.Contains(newer, state.Sender) {
			t.Errorf("%+v, %v after %v", state, err, newer)
		}
		if began++; began > 3 {
			t.Error("a sender that was replaced has gone on")
			return
		}
		newer = append(newer, state.Sender)
		second := o.Sender
		if n == 3 {
			second.Environ = append(slices.Clone(o.Environ), "LATE_TOKEN=late-77")
		}
		if err := second.Run(t.Context()); err != nil { // within the first one's wait
			t.Error(err)
		}
	}
	o.run()
	if diff := cmp.Diff([]string{"key-1", "key-2"}, g.keys()); diff != "" || o.outbox().Waiting() {
		t.Error(diff)
	}
}

// One that is killed in the place of another leaves nothing behind that would keep the
// next from sending.
func TestReplacedByOneThatIsGone(t *testing.T) {
	g := newGateway(t, says(401, ""), says(401, ""))
	o := newOffice(t, g.openClaw())
	box := o.outbox().Box("warden")
	o.onWait = func(n int) {
		if n == 1 {
			if err := box.Await("somebody who is gone"); err != nil {
				t.Error(err)
			}
		}
	}
	o.put(letter(1))
	o.run()
	if len(g.keys()) != 1 || !o.outbox().Waiting() {
		t.Errorf("it did not leave: %v", g.keys())
	}
	o.run()
	if len(g.ran) != 1 || o.outbox().Waiting() {
		t.Errorf("%v", g.keys())
	}
}

// While a person is waited for, nobody is kept from sending; while the gateway is down,
// a sender that lives is.
func TestWhoHoldsTheBox(t *testing.T) {
	for _, test := range []struct {
		status int
		held   bool
	}{{401, false}, {503, true}} {
		g := newGateway(t, says(test.status, ""))
		o := newOffice(t, g.openClaw())
		o.onWait = func(int) {
			release, err := o.outbox().Box("warden").Hold()
			if (err != nil) != test.held {
				t.Errorf("%d: %v", test.status, err)
			}
			if err == nil {
				release()
			}
		}
		o.put(letter(1))
		o.run()
		if len(g.ran) != 1 {
			t.Errorf("%d: %v", test.status, g.keys())
		}
	}
}

// A letter of last week is tried for a while: the machine was off, not the gateway.
func TestOldLetter(t *testing.T) {
	broken := says(503, "")
	g := newGateway(t, slices.Repeat([]answer{broken}, fewest-1)...)
	o := newOffice(t, g.openClaw())
	l := letter(1)
	l.Time = noon.Add(-7 * 24 * time.Hour)
	o.put(l)
	o.run()
	if dead := o.dead(); len(dead) > 0 || len(g.ran) != 1 {
		t.Errorf("%+v", dead)
	}
}

// A gateway that comes back after hours may not know its hooks at first. That is no
// reason to give the letter up at once.
func TestTroubleOfAnotherKind(t *testing.T) {
	broken, unknown := says(503, "", "Retry-After", "600"), says(404, "")
	answers := slices.Concat(slices.Repeat([]answer{broken}, 60), slices.Repeat([]answer{unknown}, 50), []answer{broken}, slices.Repeat([]answer{unknown}, 50))
	g := newGateway(t, answers...)
	o := newOffice(t, g.openClaw())
	o.put(letter(1))
	o.run()
	if dead := o.dead(); len(dead) > 0 || len(g.ran) != 1 {
		t.Errorf("%+v", dead)
	}
}

// A sender that takes over knows when the last one tried, and a clock that was set
// back does not make it wait for ever.
func TestTakesOverTheWait(t *testing.T) {
	for _, test := range []struct{ back, least, most time.Duration }{
		{0, time.Second, 1100 * time.Millisecond},
		{24 * time.Hour, 10 * time.Minute, 11 * time.Minute},
	} {
		g := newGateway(t, says(500, ""))
		o := newOffice(t, g.openClaw())
		o.put(letter(1))
		if wait, _, _ := o.try(); wait < time.Second {
			t.Errorf("tried again in %s", wait)
		}
		o.clock = o.clock.Add(-test.back)
		o.run()
		if len(o.waits) != 1 || o.waits[0] < test.least || o.waits[0] > test.most {
			t.Errorf("%s back: waited %v", test.back, o.waits)
		}
	}
}

// The registry is read for every try.
func TestRegistryIsReadAnew(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, `{"transport":"webhook","url":"http://127.0.0.1:1"}`)
	o.onWait = func(n int) {
		switch n {
		case 2:
			o.register(`{"transport":"pigeon"}`)
		case 4:
			o.register(g.webhook())
		}
	}
	o.put(letter(1))
	o.run()
	if len(g.ran) != 1 || len(o.waits) != 4 {
		t.Errorf("%v after %v", g.ran, o.waits)
	}
}

// The letter goes to its own agent, by the entry of its session or another one.
func TestRecipient(t *testing.T) {
	g := newGateway(t)
	for _, test := range []struct{ session, agent, by, reason string }{
		{"warden-main", "warden", "warden-main", ""},
		{"gideon-7", "gideon", "gideon-*", ""},
		{"renamed", "gideon", "gideon-*", ""},
		{"warden-main", "gideon", "gideon-*", ""},
		{"warden-main", "nobody", "", `the registry has no enabled entry for agent "nobody"`},
	} {
		o := newOffice(t, g.openClaw())
		a, err := o.recipient(wake.Letter{Session: test.session, AgentID: test.agent})
		if a.SessionName != test.by || fmt.Sprint(err) != test.reason && (err != nil || test.reason != "") {
			t.Errorf("%+v: %q, %v", test, a.SessionName, err)
		}
	}
}

// What is wrong with the registry is put right by a person.
func TestFaultyGateways(t *testing.T) {
	for _, test := range []struct{ gateway, reason string }{
		{`{"transport":"openclaw-http","url":"http://h","token_env":"NOT_SET"}`, "the variable NOT_SET is empty or not set"},
		{`{"transport":"openclaw-http","url":"http://h","token_env":"TWO_LINES"}`, "the variable TWO_LINES has more than one line"},
		{`{"transport":"webhook","url":"http://h","secret_file":"no-such-file"}`, "no-such-file"},
		{`{"transport":"webhook","url":"ftp://h"}`, "gateway.url"},
		{`{"transport":"pigeon"}`, "gateway.transport"},
		{`{"transport":"command","command":["no-such-program-9f"]}`, `the program "no-such-program-9f" is not on the PATH`},
		{`{"transport":"command","command":["./no-such-program"]}`, "cannot start no-such-program"},
		{`{"transport":"openclaw","program":"no-such-program-9f"}`, `the program "no-such-program-9f" is not on the PATH`},
		{`{"transport":"session","session":"other"}`, "typing into a session is not available here"},
	} {
		o := newOffice(t, test.gateway)
		o.Environ = append(o.Environ, "TWO_LINES=a\nb")
		o.put(letter(1))
		wait, reason, dead := o.try()
		if wait < time.Minute || dead != "" || !strings.Contains(reason, test.reason) {
			t.Errorf("%s: tried again in %s: %q; dead: %q", test.gateway, wait, reason, dead)
		}
	}
}

func TestSecretFile(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, fmt.Sprintf(`{"transport":"openclaw-http","url":%q,"token_file":"token"}`, g.URL+"/"))
	writeFile(t, o.ConfigDir+"/token", "  filed-5ad1 \n", 0o600)
	o.put(letter(1))
	o.run()
	if len(g.got) != 1 || g.got[0].Auth != "Bearer filed-5ad1" || g.got[0].Path != "/hooks/agent" {
		t.Errorf("%+v", g.got)
	}
	o.wantNoSecret("filed-5ad1")
}

// A message that becomes too large as JSON is cut where it may be cut, and the whole
// of it can be read.
func TestLargeMessage(t *testing.T) {
	g := newGateway(t)
	o := newOffice(t, g.openClaw())
	l := letter(1)
	text := strings.Repeat("\"\n", 100<<10)
	l.LastAssistantMessage = &text
	l.Body = wake.Compose(l, "do something")
	o.put(l)
	o.run()
	if len(g.got) != 1 || len(g.got[0].Body) > maxHookBody {
		t.Fatalf("%d requests, the first of %d bytes", len(g.got), len(g.got[0].Body))
	}
	var hook agentHook
	check(t, json.Unmarshal([]byte(g.got[0].Body), &hook))
	_, told, _ := strings.Cut(hook.Message, "The full text is in the file ")
	path, _, _ := strings.Cut(told, ".\n")
	if got := readFile(t, path); got != l.Body {
		t.Errorf("%q holds %d bytes, not the %d of the message", path, len(got), len(l.Body))
	}
	if !strings.Contains(hook.Message, "left out the middle") || len(hook.Message) < maxHookBody/8 {
		t.Errorf("%d bytes are left", len(hook.Message))
	}
	o.clock = time.Now().Add(keepFor / 2)
	o.prune()
	readFile(t, path)
	o.clock = time.Now().Add(keepFor + time.Minute)
	o.prune()
	if o.runs() == "" || exists(path) {
		t.Errorf("%s is still there", path)
	}
}

// A sender that is told to end does so and loses nothing.
func TestEndsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := newGateway(t, func(w http.ResponseWriter, r *http.Request) bool {
		cancel()
		return hangs(w, r)
	})
	o := newOffice(t, g.openClaw())
	o.put(letters(2)...)
	if err := o.Run(ctx); err != nil {
		t.Error(err)
	}
	state, err := o.outbox().Box("warden").State()
	if err != nil || state.Tries != 0 {
		t.Errorf("counted as a failure: %+v, %v", state, err)
	}
	o.run()
	if diff := cmp.Diff([]string{"key-1", "key-1", "key-2"}, g.keys()); diff != "" {
		t.Error(diff)
	}
}

// A sender that is told to end while it waits sends nothing more.
func TestEndsWhenToldInAWait(t *testing.T) {
	for _, cause := range []error{errors.New("busy"), refusal(true)} {
		ctx, cancel := context.WithCancel(t.Context())
		o := newOffice(t, `{"transport":"session","session":"boss"}`)
		typed := 0
		o.Type = func(context.Context, string, string, string) error {
			typed++
			return cause
		}
		o.onWait = func(int) { cancel() }
		o.put(letter(1))
		if err := o.Run(ctx); err != nil || typed != 1 {
			t.Errorf("%v: typed %d times, %v", cause, typed, err)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, text := range []string{"", "5", "-1", "1e3", "99999999999999999999", "Sun, 01 Mar 2026 12:00:05 GMT", "Sun, 01 Mar 2026 11:00:00 GMT", "soon"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := reply{exchange.Reply{Header: http.Header{"Retry-After": {text}}}, noon}
		if d := r.retryAfter(); d < 0 {
			t.Errorf("%q: %s", text, d)
		}
	})
}
