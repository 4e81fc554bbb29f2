package probe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/harness/endpoint"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var must = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

const (
	token = "tok-3f9a-secret"
	key   = "key-77c1-secret"
)

// fake starts an endpoint on loopback.
func fake(t *testing.T, handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// says answers with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// by answers GET and POST each in its own way.
func by(get, post http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			get(w, r)
			return
		}
		post(w, r)
	}
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<title>Welcome</title>")
}

func check(t *testing.T, target endpoint.Target) endpoint.Answer {
	t.Helper()
	return Prober{UserAgent: "stopgate/test"}.Check(t.Context(), target)
}

func TestVerdicts(t *testing.T) {
	const (
		noModel   = `{"type":"error","error":{"type":"not_found_error","message":"model: glm-9"}}`
		noPath    = `{"type":"error","error":{"type":"not_found_error","message":"Not found"}}`
		noCredit  = `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`
		badKey    = `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`
		overload  = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
		someModel = "glm-9"
	)
	for _, test := range []struct {
		name    string
		model   string
		handler http.HandlerFunc
		want    endpoint.Answer
	}{
		{"a list of models", "", by(says(200, `{"data":[]}`), says(500, "")), endpoint.Answer{Verdict: endpoint.Valid, Status: 200}},
		{"a word of the model", someModel, by(says(500, ""), says(200, `{}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 200}},
		{"created is fine too", someModel, says(201, ""), endpoint.Answer{Verdict: endpoint.Valid, Status: 201}},
		{"a bad key", "", says(401, badKey), endpoint.Answer{Verdict: endpoint.Rejected, Status: 401, Detail: "HTTP 401: invalid x-api-key"}},
		{"a bad key, no words", someModel, says(403, ""), endpoint.Answer{Verdict: endpoint.Rejected, Status: 403, Detail: "HTTP 403 Forbidden"}},
		{"a key that is bad for a word only", "", by(says(404, ""), says(401, badKey)), endpoint.Answer{Verdict: endpoint.Rejected, Status: 401, Detail: "HTTP 401: invalid x-api-key"}},
		{"no list, but words", "", by(says(404, noPath), says(200, `{}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 200}},
		{"no GET at all", "", by(says(405, ""), says(200, `{}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 200}},
		{"a page in place of a list", "", by(page, says(200, `{}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 200}},
		{"a page in place of a word", "", page, endpoint.Answer{Verdict: endpoint.Rejected, Status: 200, Detail: "answers with a web page: is the path in ANTHROPIC_BASE_URL right?"}},
		{"our own model is not there", "", by(says(404, ""), says(404, noModel)), endpoint.Answer{Verdict: endpoint.Valid, Status: 404}},
		{"our own model is refused", "", by(says(404, ""), says(400, `{"error":{"message":"Unknown Model"}}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 400}},
		{"our own model, by its name", "", by(says(404, ""), says(404, `{"error":{"type":"not_found_error","message":"`+commonModel+` does not exist"}}`)), endpoint.Answer{Verdict: endpoint.Valid, Status: 404}},
		{"a key that may not use our own model", "", by(says(404, ""), says(403, noModel)), endpoint.Answer{Verdict: endpoint.Rejected, Status: 403, Detail: "HTTP 403: model: glm-9"}},
		{"its own model is not there", someModel, says(404, noModel), endpoint.Answer{Verdict: endpoint.Rejected, Status: 404, Detail: "HTTP 404: model: glm-9"}},
		{"the path is wrong", "", says(404, noPath), endpoint.Answer{Verdict: endpoint.Rejected, Status: 404, Detail: "HTTP 404: Not found"}},
		{"no money left", "", by(says(405, ""), says(400, noCredit)), endpoint.Answer{Verdict: endpoint.Rejected, Status: 400, Detail: "HTTP 400: Your credit balance is too low"}},
		{"payment required", someModel, says(402, `{"error":"pay"}`), endpoint.Answer{Verdict: endpoint.Rejected, Status: 402, Detail: "HTTP 402: pay"}},
		{"asked too often", "", says(429, `{"error":{"message":"slow down"}}`), endpoint.Answer{Verdict: endpoint.Valid, Status: 429, Detail: "rate limited"}},
		{"too many at once", someModel, says(529, overload), endpoint.Answer{Verdict: endpoint.Unreachable, Status: 529, Detail: "HTTP 529: Overloaded"}},
		{"broken", "", says(500, "<html>"), endpoint.Answer{Verdict: endpoint.Unreachable, Status: 500, Detail: "HTTP 500 Internal Server Error"}},
		{"a gateway's own words", "", says(502, `{"message":"no\nupstream"}`), endpoint.Answer{Verdict: endpoint.Unreachable, Status: 502, Detail: "HTTP 502: no upstream"}},
		{"an answer that is no JSON", someModel, says(400, "\x00\xff{{"), endpoint.Answer{Verdict: endpoint.Rejected, Status: 400, Detail: "HTTP 400 Bad Request"}},
		{"an error of another shape", someModel, says(400, `{"error":[1]}`), endpoint.Answer{Verdict: endpoint.Rejected, Status: 400, Detail: "HTTP 400 Bad Request"}},
		{"a status of its own", someModel, says(499, ""), endpoint.Answer{Verdict: endpoint.Rejected, Status: 499, Detail: "HTTP 499"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := check(t, endpoint.Target{Name: "p", BaseURL: fake(t, test.handler), APIKey: key, Model: test.model})
			test.want.Name = "p"
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(endpoint.Answer{}, "Milliseconds")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// sent is what of a request must be right.
type sent struct {
	Method, Path, Auth, Key, Version, Type, Agent, Body string
}

func TestRequests(t *testing.T) {
	const words = `{"model":"MODEL","max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}`
	for _, test := range []struct {
		name   string
		target endpoint.Target
		want   []sent
	}{
		{
			"with a model",
			endpoint.Target{AuthToken: token, Model: `m"1`},
			[]sent{{"POST", "/api/v1/messages", "Bearer " + token, "", "2023-06-01", "application/json", "stopgate/test", strings.Replace(words, "MODEL", `m\"1`, 1)}},
		},
		{
			"without one",
			endpoint.Target{AuthToken: token, APIKey: key},
			[]sent{
				{"GET", "/api/v1/models", "Bearer " + token, key, "2023-06-01", "application/json", "stopgate/test", ""},
				{"POST", "/api/v1/messages", "Bearer " + token, key, "2023-06-01", "application/json", "stopgate/test", strings.Replace(words, "MODEL", commonModel, 1)},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []sent
			url := fake(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				h := r.Header
				got = append(got, sent{
					r.Method, r.URL.Path, h.Get("Authorization"), h.Get("X-Api-Key"),
					h.Get("Anthropic-Version"), h.Get("Content-Type"), h.Get("User-Agent"), string(body),
				})
				w.WriteHeader(http.StatusNotFound)
			})
			test.target.BaseURL = url + "/api/"
			check(t, test.target)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is wrong before it is asked is not asked.
func TestFaultsAreNotSent(t *testing.T) {
	url := fake(t, func(http.ResponseWriter, *http.Request) { t.Error("was asked") })
	for _, target := range []endpoint.Target{
		{BaseURL: url},
		{BaseURL: strings.Replace(url, "http:", "gopher:", 1), APIKey: key},
		{BaseURL: url, APIKey: key + "\n"},
	} {
		got := check(t, target)
		if got.Verdict != endpoint.Rejected || got.Status != 0 || got.Detail != target.Fault().Error() {
			t.Errorf("%+v", got)
		}
	}
}

// The key must not travel to wherever an endpoint points.
func TestRedirect(t *testing.T) {
	elsewhere := fake(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	host := strings.TrimPrefix(elsewhere, "http://")
	for _, model := range []string{"", "m"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			url := fake(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere+"/login", status) })
			got := check(t, endpoint.Target{BaseURL: url, APIKey: key, Model: model})
			if got.Verdict != endpoint.Rejected || got.Detail != "redirects to "+host {
				t.Errorf("%d: %+v", status, got)
			}
		}
	}
	got := check(t, endpoint.Target{BaseURL: fake(t, says(304, "")), APIKey: key})
	if got.Verdict != endpoint.Rejected || got.Detail != "HTTP 304 Not Modified" {
		t.Errorf("a redirect to nowhere: %+v", got)
	}
}

// raw starts a server that answers every connection with the same bytes.
func raw(t *testing.T, answer string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<16))
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Wait()
	})
	return "http://" + listener.Addr().String()
}

func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it says that we hung up
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, test := range []struct{ name, url, detail string }{
		{"closed port", closed.URL, "refused"},
		{"garbage", raw(t, "SSH-2.0 "+key+"\r\n"), "malformed HTTP status code"},
		{"garbage without a space", raw(t, "SSH-2.0\r\n"), "malformed HTTP response"},
		{"nothing", raw(t, ""), "EOF"},
		{"endless header", raw(t, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)), "server response headers exceeded"},
		{"a certificate that nobody knows", secure.URL, "certificate"},
		{"no TLS there", strings.Replace(fake(t, says(200, "")), "http:", "https:", 1), "HTTP response to HTTPS client"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := check(t, endpoint.Target{BaseURL: test.url, APIKey: key})
			if got.Verdict != endpoint.Unreachable || got.Status != 0 || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%+v", got)
			}
			if strings.Contains(got.Detail, "/v1/") || strings.Contains(got.Detail, key) || strings.Contains(got.Detail, "SSH") {
				t.Errorf("says too much: %q", got.Detail)
			}
		})
	}
}

// stuck is an endpoint that never answers; asked is closed when it was asked.
func stuck(t *testing.T) (url string, asked chan struct{}) {
	asked = make(chan struct{})
	over := make(chan struct{})
	var once sync.Once
	url = fake(t, func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(asked) })
		<-over
	})
	t.Cleanup(func() { close(over) }) // before the server waits for its handlers
	return url, asked
}

func TestSlowIsUnreachable(t *testing.T) {
	url, asked := stuck(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	got := Prober{}.Check(ctx, endpoint.Target{BaseURL: url, APIKey: key})
	if got.Verdict != endpoint.Unreachable || got.Detail != "interrupted before an answer came" {
		t.Errorf("%+v", got)
	}
	got = Prober{limit: time.Millisecond}.Check(t.Context(), endpoint.Target{BaseURL: url, APIKey: key})
	if got.Verdict != endpoint.Unreachable || got.Detail != "no answer within 1ms" {
		t.Errorf("%+v", got)
	}
}

// The limit is one for both questions.
func TestLimitCoversTheSecondQuestion(t *testing.T) {
	over := make(chan struct{})
	url := fake(t, by(says(404, ""), func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(func() { close(over) })
	got := Prober{limit: 100 * time.Millisecond}.Check(t.Context(), endpoint.Target{BaseURL: url, APIKey: key})
	if got.Verdict != endpoint.Unreachable || got.Detail != "no answer within 100ms" {
		t.Errorf("%+v", got)
	}
}

// Of a body that never ends only the beginning is read.
func TestEndlessBody(t *testing.T) {
	for _, status := range []int{200, 400} {
		url := fake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			chunk := []byte(strings.Repeat(" ", 32<<10))
			for range 2048 { // 64 MiB are more than all buffers between us hold
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
			t.Error("all of it was read")
		})
		got := check(t, endpoint.Target{BaseURL: url, APIKey: key})
		if want := status == 200; (got.Verdict == endpoint.Valid) != want || got.Status != status {
			t.Errorf("%+v", got)
		}
	}
}

// An endpoint that gives back all it got, in many ways.
func TestSecretsAreHidden(t *testing.T) {
	for _, secret := range []string{token, key, `a"b\c/d+e f`, "schlüssel"} {
		for _, quote := range []func(r *http.Request) string{
			func(r *http.Request) string { return "no such key: " + secret },
			func(r *http.Request) string { return r.Header.Get("Authorization") + " " + r.Header.Get("X-Api-Key") },
			func(r *http.Request) string { return strings.Repeat("x", 180) + secret + secret },
			func(r *http.Request) string { return secret[:3] + "\x1b[0m" + secret[3:] },
		} {
			url := fake(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": quote(r)}})
				says(401, string(body))(w, r)
			})
			got := check(t, endpoint.Target{BaseURL: url, AuthToken: secret, APIKey: secret})
			if got.Verdict != endpoint.Rejected || strings.Contains(got.Detail, secret[:6]) || utf8.RuneCountInString(got.Detail) > 200 {
				t.Errorf("%+v", got)
			}
		}
		url := fake(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+token+".example/")
			w.WriteHeader(302)
		})
		if got := check(t, endpoint.Target{BaseURL: url, AuthToken: token}); got.Detail != "redirects to […].example" {
			t.Errorf("%+v", got)
		}
	}
}

// All requests are under way before the first is answered.
func TestAllAtOnce(t *testing.T) {
	const n = 20
	var waiting sync.WaitGroup
	waiting.Add(n)
	url := fake(t, func(w http.ResponseWriter, r *http.Request) {
		waiting.Done()
		waiting.Wait()
		says(200, `{}`)(w, r)
	})
	var targets []endpoint.Target
	for range n {
		targets = append(targets, endpoint.Target{Name: "p", BaseURL: url, APIKey: key})
	}
	valid := 0
	Prober{limit: time.Minute}.CheckAll(t.Context(), targets, func(a endpoint.Answer) {
		if a.Verdict == endpoint.Valid {
			valid++
		}
	})
	if valid != n {
		t.Errorf("%d of %d are valid", valid, n)
	}
}

func TestServe(t *testing.T) {
	url := fake(t, says(200, `{}`))
	in, err := json.Marshal([]endpoint.Target{{Name: "a\nb", BaseURL: url, APIKey: key}, {Name: "c"}})
	must(t, err)
	var out strings.Builder
	must(t, (Prober{}).Serve(t.Context(), strings.NewReader(string(in)), &out))
	verdicts := map[string]endpoint.Verdict{}
	for line := range strings.Lines(out.String()) {
		var a endpoint.Answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		verdicts[a.Name] = a.Verdict
	}
	if diff := cmp.Diff(map[string]endpoint.Verdict{"a\nb": endpoint.Valid, "c": endpoint.Rejected}, verdicts); diff != "" {
		t.Error(diff)
	}
}

// An answer is not held back by one that takes longer.
func TestServePrintsAtOnce(t *testing.T) {
	slow, _ := stuck(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, err := json.Marshal([]endpoint.Target{{Name: "slow", BaseURL: slow, APIKey: key}, {Name: "quick"}})
	must(t, err)
	reader, writer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Prober{limit: time.Minute}.Serve(ctx, strings.NewReader(string(in)), writer)
		_ = writer.Close()
	}()
	dec := json.NewDecoder(reader)
	for _, want := range []string{"quick", "slow"} {
		var a endpoint.Answer
		if err := dec.Decode(&a); err != nil || a.Name != want {
			t.Fatalf("%+v, %v; not %s", a, err, want)
		}
		cancel() // the slow one goes on no longer
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// brokenPipe is an output that nobody reads.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Where nobody reads the answers, nobody waits for them either.
func TestServeWithoutReader(t *testing.T) {
	slow, _ := stuck(t)
	in, err := json.Marshal([]endpoint.Target{{Name: "slow", BaseURL: slow, APIKey: key}, {Name: "quick"}})
	must(t, err)
	err = Prober{limit: 24 * time.Hour}.Serve(t.Context(), strings.NewReader(string(in)), brokenPipe{})
	if err == nil || err.Error() != "broken pipe" {
		t.Errorf("got %v", err)
	}
}

func TestServeRefuses(t *testing.T) {
	for _, in := range []string{"", "{}", `"` + key + `"`, `[{"api_key":"` + key, `[{"api_key":12345}]`, "[] []", "[" + strings.Repeat(" ", maxTargets-1) + "]"} {
		var out strings.Builder
		err := Prober{}.Serve(t.Context(), strings.NewReader(in), &out)
		if err == nil || out.Len() > 0 || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "12345") {
			t.Errorf("%.40q: %v, %q", in, err, out.String())
		}
	}
	if err := (Prober{}).Serve(t.Context(), strings.NewReader("[]"), brokenPipe{}); err != nil {
		t.Errorf("nothing to ask: %v", err)
	}
}

func FuzzReadTargets(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"name":"a","base_url":"http://h","auth_token":"t","api_key":"k","model":"m"}]`, `null`, `[null]`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		targets, err := readTargets(strings.NewReader(in))
		if err != nil && targets != nil {
			t.Errorf("%v, and yet %d targets", err, len(targets))
		}
		if err == nil && !json.Valid([]byte(in)) {
			t.Errorf("%q is no JSON", in)
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add(404, `{"error":{"type":"not_found_error","message":"model: x"}}`, "")
	f.Add(401, `{"error":"x"}`, "m")
	f.Add(302, `{"message":null}`, "m")
	f.Fuzz(func(t *testing.T, status int, body, model string) {
		r := reply{exchange.Reply{Status: status, Body: []byte(body)}}
		a := r.judge(model)
		switch {
		case a.Verdict == endpoint.Valid && (status == 401 || status == 403 || status >= 500):
			t.Errorf("%d is valid", status)
		case a.Verdict == endpoint.Unreachable && status < 500:
			t.Errorf("%d is unreachable", status)
		case a.Verdict != endpoint.Valid && a.Detail == "":
			t.Errorf("%d %q: %s, and no word why", status, body, a.Verdict)
		}
	})
}
