//go:build linux || darwin

package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	check(t, err)
	check(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

func send(conn net.Conn, text string) error {
	_, err := io.WriteString(conn, text)
	return err
}

// readUntil reads until a text has come, or all.
func readUntil(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	var got strings.Builder
	for p := make([]byte, 4096); !strings.Contains(got.String(), text); {
		n, err := conn.Read(p)
		got.Write(p[:n])
		if err != nil {
			break
		}
	}
	return got.String()
}

// raw sends a text and returns the answer as far as a text, or all of it.
func raw(t *testing.T, socket, request, until string) string {
	t.Helper()
	conn := dial(t, socket)
	defer conn.Close()
	check(t, send(conn, request))
	return readUntil(t, conn, until)
}

func TestRequestsThatAreRefused(t *testing.T) {
	with := func(fields string) string { return strings.TrimSuffix(startBody, "}") + "," + fields + "}" }
	for _, test := range []struct {
		method, path, kind, body string
		status                   int
		says                     string
	}{
		{"GET", "/", "", "", 404, "there is no"},
		{"GET", "/v1", "", "", 404, "there is no"},
		{"GET", "/v1/", "", "", 404, "there is no"},
		{"GET", "/v1/pipelines/", "", "", 400, "invalid id"},
		{"GET", "//v1/status", "", "", 404, "there is no"},
		{"GET", "/v1//status", "", "", 404, "there is no"},
		{"GET", "/v1/./status", "", "", 404, "there is no"},
		{"GET", "/v1/agents/../status", "", "", 404, "there is no"},
		{"GET", "/v1/%73tatus", "", "", 404, "there is no"},
		{"GET", "/v2/status", "", "", 404, "supports /v1"},
		{"GET", "/v1/pipelines/..", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/%2e%2e", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/..%2f..%2fetc", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/aa%00", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/aa%0a", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/%61a", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/AA", "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/" + strings.Repeat("a", 65), "", "", 400, "invalid id"},
		{"GET", "/v1/pipelines/x*/log", "", "", 400, "invalid id"},
		{"GET", "/v1/agents/a.b/signal", "", "", 400, "invalid id"},
		{"POST", "/v1/decisions/%2e/answer", jsonType, `{"id":"1","option":"1"}`, 400, "invalid id"},
		{"GET", "/v1/start", "", "", 405, "the method must be POST"},
		{"POST", "/v1/status", jsonType, "{}", 405, "the method must be GET"},
		{"HEAD", "/v1/status", "", "", 405, ""},
		{"DELETE", "/v1/pipelines/aa", "", "", 405, "the method must be GET"},
		{"GET", "/v1/status", jsonType, "{}", 400, "must not have a body"},
		{"GET", "/v1/status?x=1", "", "", 400, `unknown parameter "x": there are none`},
		{"GET", "/v1/pipelines?state=done", "", "", 400, "use status"},
		{"GET", "/v1/pipelines?status=done&status=failed", "", "", 400, "status is given 2 times"},
		{"GET", "/v1/events?afte=1", "", "", 400, "use after, owner"},
		{"GET", "/v1/pipelines?status=dead", "", "", 400, "running, waiting"},
		{"GET", "/v1/pipelines?%zz", "", "", 400, "query"},
		{"GET", "/v1/commands", "", "", 400, "the parameter project is missing"},
		{"GET", "/v1/commands?project=p", "", "", 400, "absolute"},
		{"GET", "/v1/commands?project=/p%00", "", "", 400, "absolute"},
		{"GET", "/v1/agents/aa/signal?journal=1", "", "", 400, "SEGMENT:OFFSET"},
		{"GET", "/v1/agents/aa/signal?journal=1:-1", "", "", 400, "SEGMENT:OFFSET"},
		{"GET", "/v1/agents/aa/answer", "", "", 400, "the parameter ref is missing"},
		{"GET", "/v1/agents/aa/answer?journal=1:1", "", "", 400, "the parameter ref is missing"},
		{"GET", "/v1/agents/aa/answer?ref=../x", "", "", 400, "not a valid call id"},
		{"GET", "/v1/agents/aa/answer?ref=" + strings.Repeat("a", 129), "", "", 400, "not a valid call id"},
		{"GET", "/v1/agents/aa/answer?ref=a&journal=1", "", "", 400, "SEGMENT:OFFSET"},
		{"POST", "/v1/agents/aa/send", jsonType, `{"id":"1"}`, 400, `"message" is missing`},
		{"POST", "/v1/agents/aa/send", jsonType, `{"id":"1","message":" \n"}`, 400, `"message" is missing`},
		{"POST", "/v1/agents/aa/send", jsonType, `{"id":"1","message":"\u0000"}`, 400, "NUL"},
		{"POST", "/v1/agents/aa/send", jsonType, `{"message":"x"}`, 400, `"id"`},
		{"POST", "/v1/agents/aa/kill", jsonType, `{}`, 400, `"id"`},
		{"GET", "/v1/agents/aa/kill", "", "", 405, "the method must be POST"},
		{"POST", "/v1/decisions/aa/answer", jsonType, `{"id":"1","answers":[]}`, 400, "an option or a message"},
		{"POST", "/v1/decisions/aa/answer", jsonType, `{"id":"1","answers":["\u0000"]}`, 400, "NUL"},
		{"GET", "/v1/decisions?settled=yes", "", "", 400, "settled"},
		{"GET", "/v1/events?after=x", "", "", 400, "after"},
		{"GET", "/v1/events?owner=../x", "", "", 400, "owner"},
		{"GET", "/v1/pipelines/aa/log?follow=true", "", "", 400, "follow"},

		{"POST", "/v1/start", "", startBody, 415, jsonType},
		{"POST", "/v1/start", "text/plain", startBody, 415, "text/plain"},
		{"POST", "/v1/start", jsonType, "", 400, "JSON is incomplete"},
		{"POST", "/v1/start", jsonType, startBody[:20], 400, "JSON is incomplete"},
		{"POST", "/v1/start", jsonType, "nonsense", 400, "not valid JSON"},
		{"POST", "/v1/start", jsonType, "[]", 400, "an object, not an array"},
		{"POST", "/v1/start", jsonType, startBody + "x", 400, "after the JSON value of the body"},
		{"POST", "/v1/start", jsonType, startBody + startBody, 400, "after the JSON value of the body"},
		{"POST", "/v1/start", jsonType, with(`"sudo":true`), 400, `unknown field "sudo"`},
		{"POST", "/v1/start", jsonType, with(`"args":"x"`), 400, `"args" must be an array, not a string`},
		{"POST", "/v1/start", jsonType, with(`"args":[1]`), 400, `"args" must be a string, not a number`},
		{"POST", "/v1/start", jsonType, with(`"args":["\u0000"]`), 400, "NUL"},
		{"POST", "/v1/start", jsonType, with("\"args\":[\"\xff\"]"), 400, "UTF-8"},
		{"POST", "/v1/start", jsonType, with(`"project":"p"`), 400, `"project"`},
		{"POST", "/v1/start", jsonType, with(`"cwd":""`), 400, `"cwd"`},
		{"POST", "/v1/start", jsonType, with(`"command":""`), 400, `"command" is missing`},
		{"POST", "/v1/start", jsonType, with(`"id":"../../../../etcx"`), 400, "16 hex digits"},
		{"POST", "/v1/start", jsonType, with(`"id":"0123456789ABCDEF"`), 400, "16 hex digits"},
		{"POST", "/v1/start", jsonType, with(`"args":["` + strings.Repeat("x", maxBody) + `"]`), 413, "1 MiB"},
		{"POST", "/v1/pipelines/aa/cancel", jsonType, `{}`, 400, `"id"`},
		{"POST", "/v1/pipelines/aa/cancel", jsonType, `{"id":"a\nb"}`, 400, `"id"`},
		{"POST", "/v1/runs/bb/resume", jsonType, `{"id":"1","message":"\u0000"}`, 400, "NUL"},
		{"POST", "/v1/runs/bb/resume", jsonType, `{"id":"1","vars":{"x":"\u0000"}}`, 400, "NUL"},
		{"POST", "/v1/decisions/d1/answer", jsonType, `{"id":"1"}`, 400, "an option or a message"},
		{"POST", "/v1/decisions/d1/answer", jsonType, `{"id":"1","option":1}`, 400, `"option" must be a string, not a number`},
		{"POST", "/v1/backup", jsonType, `{"path":"b"}`, 400, "absolute"},
		{"POST", "/v1/stop", jsonType, `{"kill":"yes"}`, 400, `"kill" must be a boolean, not a string`},
	} {
		p := &fakePlane{}
		socket, stop := serve(t, p)
		request := fmt.Sprintf("%s %s HTTP/1.0\r\n", test.method, test.path)
		if test.kind != "" {
			request += "Content-Type: " + test.kind + "\r\n"
		}
		if test.body != "" || test.method == "POST" {
			request += fmt.Sprintf("Content-Length: %d\r\n", len(test.body))
		}
		got := raw(t, socket, request+"\r\n"+test.body, "never")
		stop()
		name := fmt.Sprintf("%s %.60s %.80s", test.method, test.path, test.body)
		if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.0 %d ", test.status)) || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), test.says) {
			t.Errorf("%s: %s", name, got)
		}
		for _, header := range []string{"Content-Length: ", "Content-Type: application/json\r\n", "Stopgate-Version: v1\r\n"} {
			if !strings.Contains(got, header) {
				t.Errorf("%s: no %s in %s", name, header, got)
			}
		}
		if test.status == 405 && !strings.Contains(got, "\r\nAllow: ") {
			t.Errorf("%s: no Allow in %s", name, got)
		}
		if calls := p.took(); calls != nil {
			t.Errorf("%s: %q", name, calls)
		}
	}
}

func TestAnUnknownLengthIsLimitedToo(t *testing.T) {
	p := &fakePlane{}
	socket, _ := serve(t, p)
	conn := dial(t, socket)
	defer conn.Close()
	check(t, send(conn, "POST /v1/start HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"))
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10))
	for range 64 {
		if send(conn, chunk) != nil {
			break // it has heard enough
		}
	}
	if got := readUntil(t, conn, "1 MiB"); !strings.HasPrefix(got, "HTTP/1.1 413 ") || p.took() != nil {
		t.Errorf("%s", got)
	}
}

func TestOldClients(t *testing.T) {
	socket, _ := serve(t, &fakePlane{})
	got := raw(t, socket, "GET /v1/version HTTP/1.0\r\n\r\n", "never")
	want := `{"version":"v1","api":1,"pid":7,"started":"2026-01-30T08:14:09Z"}`
	if !strings.HasPrefix(got, "HTTP/1.0 200 OK\r\n") || !strings.Contains(got, fmt.Sprintf("Content-Length: %d\r\n", len(want))) || !strings.HasSuffix(got, "\r\n\r\n"+want) {
		t.Errorf("%s", got)
	}
}

func TestTheWrongKindOfOwner(t *testing.T) {
	p := &fakePlane{}
	socket, _ := serve(t, p)
	for path, want := range map[string]string{
		"GET /v1/pipelines/bb":     "/v1/runs/bb",
		"GET /v1/runs/aa":          "/v1/pipelines/aa",
		"GET /v1/runs/aa/log":      "/v1/pipelines/aa",
		"POST /v1/runs/aa/cancel":  "/v1/pipelines/aa",
		"POST /v1/runs/aa/resume":  "/v1/pipelines/aa",
		"GET /v1/pipelines/bb/log": "/v1/runs/bb",
	} {
		got := raw(t, socket, path+" HTTP/1.0\r\nContent-Type: application/json\r\n"+ofBody(path, `{"id":"1"}`), "never")
		if !strings.HasPrefix(got, "HTTP/1.0 404 ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
		if calls := p.took(); len(calls) != 1 || !strings.HasPrefix(calls[0], "owner ") {
			t.Errorf("%s: %q", path, calls)
		}
	}
}

func ofBody(request, body string) string {
	if !strings.HasPrefix(request, "POST") {
		return "\r\n"
	}
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// strictPlane fails when it is asked for what the API must not let through.
type strictPlane struct {
	fakePlane
	t *testing.T
}

func (p *strictPlane) id(s string) {
	if s == "" || len(s) > 64 {
		p.t.Errorf("id %q", s)
	}
	for _, c := range s {
		if !strings.ContainsRune("0123456789abcdef-", c) {
			p.t.Errorf("id %q", s)
		}
	}
}

func (p *strictPlane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	p.id(s.ID)
	for _, text := range append(s.Args, s.Command, s.Cwd, s.Project) {
		if strings.Contains(text, "\x00") {
			p.t.Errorf("%+v", s)
		}
	}
	return p.fakePlane.Start(ctx, s)
}

func (p *strictPlane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	p.id(id)
	return owner("pipeline", id), nil
}

func (p *strictPlane) Agent(ctx context.Context, id string) (daemonapi.Agent, error) {
	p.id(id)
	return p.fakePlane.Agent(ctx, id)
}

func (p *strictPlane) Decision(ctx context.Context, id string) (daemonapi.Decision, error) {
	p.id(id)
	return p.fakePlane.Decision(ctx, id)
}

func (p *strictPlane) Cancel(ctx context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	p.id(c.ID)
	return p.fakePlane.Cancel(ctx, id, c)
}

func (p *strictPlane) Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	p.id(r.ID)
	return p.fakePlane.Resume(ctx, id, r)
}

func (p *strictPlane) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	p.id(id)
	p.id(a.ID)
	return p.fakePlane.Answer(ctx, id, a)
}

func FuzzRequest(f *testing.F) {
	for _, r := range Routes() {
		f.Add(r.Method, strings.ReplaceAll(r.Path, "{id}", "aa"), "", jsonType, startBody)
	}
	f.Add("POST", "/v1/decisions/d1/answer", "", jsonType, `{"id":"1","option":"1"}`)
	f.Add("POST", "/v1/pipelines/aa/resume", "", jsonType, `{"id":"1","vars":{"a":"b"}}`)
	f.Add("GET", "/v1/pipelines", "status=done", "", "")
	f.Add("GET", "/v1/agents/aa/signal", "journal=1:2", "", "")
	f.Fuzz(func(t *testing.T, method, path, query, kind, body string) {
		var sent io.Reader = http.NoBody // as a server has it
		if body != "" {
			sent = strings.NewReader(body)
		}
		r, err := http.NewRequest(method, "http://stopgate/", sent)
		if err != nil {
			return
		}
		if r.URL.Path, err = pathOf(path); err != nil {
			return
		}
		r.URL.RawPath, r.URL.RawQuery = path, query
		r.Header.Set("Content-Type", kind)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // streams end at once
		w := httptest.NewRecorder()
		New(&strictPlane{t: t}, "v1").ServeHTTP(w, r.WithContext(ctx))
		if w.Code >= 500 || w.Code < 200 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}

// pathOf is the path that net/http makes of what was sent.
func pathOf(path string) (string, error) {
	r, err := http.NewRequest("GET", "http://stopgate"+path, nil)
	if err != nil {
		return "", err
	}
	return r.URL.Path, nil
}
