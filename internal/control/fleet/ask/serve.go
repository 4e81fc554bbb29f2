package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

const (
	// atOnce is how many requests of others are answered at once.
	atOnce = 16
	// longest is how long one may take: the member that asked does not wait as long.
	longest = 30 * time.Second
)

// Server answers requests of other members.
type Server struct {
	Handler http.Handler // the API of this machine alone
	// Caller is the user of a member by the fleet's record, and whether that user may do something here.
	Caller func(member string, right config.FleetRight) (user string, may bool)
	Log    *slog.Logger
}

// Run answers until the context ends.
func (s *Server) Run(ctx context.Context, l *link.Link) error {
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	defer all.Wait()

	sub, err := l.Conn.Subscribe(l.Ask(l.Member, "*"), func(m *nats.Msg) {
		from, ok := sender(l, m)
		if !ok {
			s.Log.Warn("dropped a message that is not a request of a member", "subject", m.Subject, "reply", m.Reply)
			return
		}
		select {
		case free <- struct{}{}:
			all.Go(func() {
				defer func() { <-free }()
				s.reply(m, s.answer(ctx, from, l.Member, m))
			})
		default:
			s.reply(m, refusal("unavailable", l.Member+" has too many requests at once; nothing was changed", "try again"))
		}
	})
	if err != nil {
		return fmt.Errorf("take requests of the fleet %s: %w", l.Fleet, err)
	}

	<-ctx.Done()
	_ = sub.Unsubscribe() // the connection may have ended, too
	return nil
}

func (s *Server) reply(m *nats.Msg, a Answer) {
	if err := m.RespondMsg(a.Encode()); err != nil {
		s.Log.Warn("cannot answer another machine", "subject", m.Subject, "error", err)
	}
}

// sender is the member that a request is from. JetStream delivers what a member has stored, with the headers that
// the member chose, to any subject that it names, and the receiver sees the subject under which it was stored: so
// the whole subject must be that of a request, and the answer must go where that member gets answers.
func sender(l *link.Link, m *nats.Msg) (from string, ok bool) {
	from = m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	return from, m.Subject == l.Ask(l.Member, from) && link.CheckName(from) == nil && strings.HasPrefix(m.Reply, link.Inbox(from)+".")
}

// answer is what a message is answered. A handler that panics is one that failed.
func (s *Server) answer(ctx context.Context, from, me string, m *nats.Msg) (a Answer) {
	defer func() {
		if trouble := recover(); trouble != nil {
			if trouble != http.ErrAbortHandler {
				s.Log.Error("a request of another machine failed", "subject", m.Subject, "panic", trouble)
			}
			a = refusal("internal", "internal error; see the daemon's log", "")
		}
	}()
	r, err := decodeRequest(m)
	if err != nil {
		return refusal("invalid", plain.Line(err.Error()), "")
	}
	user, refused := s.check(from, me, r)
	if refused != nil {
		s.Log.Warn("refused a request of another machine", "from", from, "user", user, "method", r.Method, "path", r.Path, "why", refused.Failure.Error)
		return answerOf(refused)
	}
	if r.Method != http.MethodGet {
		s.Log.Info("a request of another machine", "from", from, "user", user, "method", r.Method, "path", r.Path)
	}
	return s.serve(ctx, r, m.Header.Get(versionHeader), api.Caller{User: user, Host: from})
}

// check finds out who asks, and whether that may be.
func (s *Server) check(from, me string, r Request) (user string, refused *api.Error) {
	path, query, _ := strings.Cut(r.Path, "?")
	route, found := api.Find(r.Method, path)
	if !found {
		return "", api.Refusal("not_found", fmt.Sprintf("there is no %.200q", path), "it may be of another version: stopgate version")
	}
	right, open := Needed(route)
	if !open {
		return "", api.Refusal("forbidden", fmt.Sprintf("%s %s is not for other machines", r.Method, route.Path), "run the command there")
	}
	user, may := s.Caller(from, right)
	if !may {
		return user, api.Refusal("forbidden", fmt.Sprintf("%s may not do that here (%s)", who(user, from), right), fmt.Sprintf("allow it in this machine's configuration: fleet.allow, with user %s and may: [%s]", plain.Name(user), right))
	}
	return user, bounds(route, me, query, r.Body)
}

func who(user, from string) string {
	if user == "" {
		return from + ", which the fleet has no record of,"
	}
	return user + " on " + from
}

// bounds refuses what has no end, or names a place on this machine.
func bounds(route api.Route, me, query string, body []byte) *api.Error {
	values, _ := url.ParseQuery(query) // the API says what is wrong with it
	if values.Get("follow") == "1" {
		return api.Refusal("invalid", "a log cannot be followed from another machine", "")
	}
	if route.Path != "/v1/start" {
		return nil
	}
	var start daemonapi.Start
	if err := json.Unmarshal(body, &start); err != nil {
		return nil // likewise
	}
	if start.ProjectName == "" || start.Project != "" || start.Cwd != "" || start.Host != me {
		return api.Refusal("invalid", "another machine names a project, and no directory", "map the name in this machine's configuration: fleet.projects")
	}
	return nil
}

// serve hands a request to the API.
func (s *Server) serve(ctx context.Context, r Request, version string, caller api.Caller) Answer {
	ctx, cancel := context.WithTimeout(api.WithCaller(ctx, caller), longest)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.Method, "http://fleet"+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return refusal("invalid", plain.Line(err.Error()), "")
	}
	request.Header.Set(daemonapi.VersionHeader, plain.Short(version, 60))
	if r.Method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	w := &buffer{header: http.Header{}}
	s.Handler.ServeHTTP(w, request)
	if w.tooMuch {
		return refusal("too_large", fmt.Sprintf("the answer has more than %d KiB", largest>>10), "ask for less of it, such as the last lines of a log")
	}
	return Answer{Status: w.status(), Header: w.header, Body: w.body.Bytes()}
}

// buffer takes an answer of HTTP.
type buffer struct {
	header  http.Header
	code    int
	body    bytes.Buffer
	tooMuch bool
}

func (b *buffer) Header() http.Header { return b.header }

func (b *buffer) WriteHeader(status int) {
	if b.code == 0 {
		b.code = status
	}
}

func (b *buffer) Write(p []byte) (int, error) {
	if b.body.Len()+len(p) > largest {
		b.tooMuch = true
		return len(p), nil
	}
	return b.body.Write(p)
}

// Flush is for http.ResponseController.
func (b *buffer) Flush() {}

func (b *buffer) status() int {
	if b.code == 0 {
		return http.StatusOK
	}
	return b.code
}

func refusal(code, text, hint string) Answer { return answerOf(api.Refusal(code, text, hint)) }

func answerOf(e *api.Error) Answer {
	text, err := rawjson.Marshal(e.Failure)
	if err != nil { // it consists of texts
		text = nil
	}
	return Answer{Status: e.Status, Header: http.Header{"Content-Type": {"application/json"}}, Body: text}
}
