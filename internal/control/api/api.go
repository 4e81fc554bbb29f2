package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// writing is how long one waits for somebody who does not take what he asked for.
const writing = 10 * time.Second

const (
	// maxStreams is how many streams there are at once.
	maxStreams = 128
	// maxWaiting is how many hooks wait at once for a person's answer, each for an agent.
	maxWaiting = 1024
)

type server struct {
	plane   Plane
	version string
	routes  []Route
	streams chan struct{} // one for each that is open
	waiting chan struct{} // one for each hook that waits
}

// New answers requests out of a plane. What goes wrong in here is told to slog's
// default logger.
func New(plane Plane, version string) http.Handler {
	return &server{plane: plane, version: version, routes: Routes(), streams: make(chan struct{}, maxStreams), waiting: make(chan struct{}, maxWaiting)}
}

// request is a request for one of the routes, whose id and query are sound.
type request struct {
	*http.Request
	w     http.ResponseWriter
	id    string
	query map[string]string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(daemonapi.VersionHeader, s.version)
	w.Header().Set("Cache-Control", "no-store")
	if r.ContentLength != 0 { // also for a body that nobody wants: net/http reads it
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(reading))
	}

	answer := &tracked{ResponseWriter: w}
	defer s.recovered(answer, r)
	route, id, err := s.find(r)
	if err != nil {
		s.fail(answer, r, err)
		return
	}

	req, err := newRequest(answer, r, route, id)
	switch {
	case err != nil:
	case route.stream != nil:
		err = s.stream(route, req)
	default:
		var content any
		if content, err = route.handle(s, req); err == nil {
			s.answer(answer, http.StatusOK, content)
		}
	}
	if err != nil {
		s.fail(answer, r, err)
	}
}

// tracked knows whether an answer has begun.
type tracked struct {
	http.ResponseWriter
	begun bool
}

func (t *tracked) WriteHeader(status int) {
	t.begun = true
	t.ResponseWriter.WriteHeader(status)
}

func (t *tracked) Write(p []byte) (int, error) {
	t.begun = true
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// recovered answers in place of a handler that panicked.
func (s *server) recovered(w *tracked, r *http.Request) {
	trouble := recover()
	if trouble == nil {
		return
	}
	if trouble == http.ErrAbortHandler {
		panic(trouble)
	}
	s.fail(w, r, panicked(trouble))
}

func panicked(trouble any) error { return fmt.Errorf("panic: %v\n%s", trouble, debug.Stack()) }

// find finds the route of a request, and the id in its path. The path is taken as it was
// sent: nothing in it is unescaped or cleaned.
func (s *server) find(r *http.Request) (route *Route, id string, err error) {
	path := r.URL.EscapedPath()
	var methods []string
	for i := range s.routes {
		got, ok := match(s.routes[i].Path, path)
		switch {
		case !ok:
		case s.routes[i].Method == r.Method:
			return &s.routes[i], got, nil
		default:
			methods = append(methods, s.routes[i].Method)
		}
	}
	if methods != nil {
		slices.Sort(methods)
		return nil, "", &notAllowed{strings.Join(methods, ", "), r.Method}
	}
	return nil, "", s.unknown(r, path)
}

// Find is the route of a path without its query.
func Find(method, path string) (route Route, found bool) {
	for _, route := range Routes() {
		if _, ok := match(route.Path, path); ok && route.Method == method {
			return route, true
		}
	}
	return Route{}, false
}

// match reports whether a path is that of a pattern, and returns what stands for {id}.
func match(pattern, path string) (id string, ok bool) {
	before, after, has := strings.Cut(pattern, "{id}")
	if !has {
		return "", path == pattern
	}
	id, ok = strings.CutPrefix(path, before)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(id, after)
	return id, ok && !strings.Contains(id, "/")
}

// unknown is the error of a path that is none of ours.
func (s *server) unknown(r *http.Request, path string) error {
	e := failure(http.StatusNotFound, "not_found", "there is no %.200q", path)
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first != "v1" && len(first) > 1 && first[0] == 'v' && strings.Trim(first[1:], "0123456789") == "" {
		e.Hint = fmt.Sprintf("this is stopgated %s, which supports /v1; a newer one may support /%s: stopgate daemon restart", s.version, first)
	} else {
		e.Hint = s.skew(r)
	}
	return e
}

// skew is what to tell somebody of another version who wants what we do not know.
func (s *server) skew(r *http.Request) string {
	theirs := r.Header.Get(daemonapi.VersionHeader)
	if theirs == "" || theirs == s.version {
		return "GET /v1/openapi.json lists all paths"
	}
	return fmt.Sprintf("the daemon is stopgated %s, and you have %.60q: stopgate daemon restart", s.version, theirs)
}

// notAllowed is the error of a method that a path does not have.
type notAllowed struct{ allow, method string }

func (e *notAllowed) Error() string {
	return fmt.Sprintf("the method must be %s, not %.20q", e.allow, e.method)
}

// failure is an error for the client.
func failure(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Failure: daemonapi.Failure{Code: code, Error: fmt.Sprintf(format, args...)}}
}

func invalid(format string, args ...any) *Error {
	return failure(http.StatusBadRequest, "invalid", format, args...)
}

// fail answers with an error. An answer that has begun is cut off instead, which shows.
func (s *server) fail(w *tracked, r *http.Request, err error) {
	e := s.failureOf(w, r, err)
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	s.answer(w, e.Status, e.Failure)
}

// failureOf is what the client is told of an error.
func (s *server) failureOf(w http.ResponseWriter, r *http.Request, err error) *Error {
	if n, ok := errors.AsType[*notAllowed](err); ok {
		w.Header().Set("Allow", n.allow)
		return failure(http.StatusMethodNotAllowed, "invalid", "%v", n)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		known := *e
		known.Code = cmp.Or(known.Code, "internal")
		known.Status = cmp.Or(known.Status, codeStatus[known.Code], http.StatusInternalServerError)
		return &known
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return failure(http.StatusServiceUnavailable, "unavailable", "the daemon did not answer in time")
	}
	slog.Error("request failed", "method", r.Method, "path", r.URL.EscapedPath(), "error", err)
	return failure(http.StatusInternalServerError, "internal", "internal error; see the daemon's log")
}

// codeStatus is the status of a failure that has none, by its code.
var codeStatus = map[string]int{
	"not_found":   http.StatusNotFound,
	"conflict":    http.StatusConflict,
	"invalid":     http.StatusBadRequest,
	"untrusted":   http.StatusForbidden,
	"forbidden":   http.StatusForbidden,
	"too_large":   http.StatusRequestEntityTooLarge,
	"unavailable": http.StatusServiceUnavailable,
}

// StatusOf is the status of HTTP for the code of a failure.
func StatusOf(code string) int { return cmp.Or(codeStatus[code], http.StatusInternalServerError) }

// answer sends a value as JSON. Its length is said, so that one that is cut off shows.
func (s *server) answer(w http.ResponseWriter, status int, content any) {
	text, err := encode(content)
	if err != nil { // such as a time in the year 10000
		slog.Error("cannot encode the answer", "error", err)
		status, text = http.StatusInternalServerError, []byte(`{"code":"internal","error":"internal error; see the daemon's log"}`)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writing))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever is gone needs no answer
}

// encode is a value as JSON on one line, without an end of the line.
func encode(content any) ([]byte, error) {
	if raw, ok := content.(json.RawMessage); ok {
		return raw, nil
	}
	return rawjson.Marshal(content)
}
