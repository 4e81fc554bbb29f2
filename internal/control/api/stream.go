package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// heartbeat is how often a stream of events says that it is alive.
const heartbeat = 15 * time.Second

// ending is the key of the context that ends when streams are to end.
type ending struct{}

// Ending is closed when the streams of a server that Serve runs are to end: a stream has a context of its
// request, which does not end then.
func Ending(ctx context.Context) <-chan struct{} {
	if end, ok := ctx.Value(ending{}).(context.Context); ok {
		return end.Done()
	}
	return nil
}

// stream answers with a stream, as long as there are not too many.
func (s *server) stream(route *Route, r *request) error {
	end, err := r.stay(s.streams, "streams are open")
	if err != nil {
		return err
	}
	defer end()
	r.w.Header().Set("Content-Type", route.text)
	return route.stream(s, r)
}

// stay lets a request take long, as long as there are not too many of these. Its context
// ends when streams are to end.
func (r *request) stay(among chan struct{}, what string) (end func(), err error) {
	select {
	case among <- struct{}{}:
	default:
		return nil, failure(http.StatusServiceUnavailable, "unavailable", "%d %s, which is the limit", cap(among), what)
	}
	ctx, cancel := context.WithCancel(r.Context())
	unhook := func() bool { return true }
	if end, ok := r.Context().Value(ending{}).(context.Context); ok {
		unhook = context.AfterFunc(end, cancel)
	}
	r.Request = r.Request.WithContext(ctx)
	return func() {
		unhook()
		cancel()
		<-among
	}, nil
}

// send writes and sees to it that it leaves now. Whoever does not take it in time is
// dropped.
func (r *request) send(p []byte) error {
	control := http.NewResponseController(r.w)
	_ = control.SetWriteDeadline(time.Now().Add(writing))
	if _, err := r.w.Write(p); err != nil {
		return err
	}
	return control.Flush()
}

// scrape answers with metrics.
func scrape(s *server, r *request) error {
	_ = http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(2 * writing)) // it takes up to 10 s to collect them
	s.plane.Metrics().ServeHTTP(r.w, r.Request)
	return nil
}

func logOf(kind string) func(*server, *request) error {
	return func(s *server, r *request) error {
		owner, err := s.owner(r, kind)
		if err != nil {
			return err
		}
		q, err := r.log()
		if err != nil {
			return err
		}
		q.Begin = func(offset, size int64) {
			r.w.Header().Set(LogOffset, strconv.FormatInt(offset, 10))
			r.w.Header().Set(LogSize, strconv.FormatInt(size, 10))
			if q.Follow { // the client is to know that it is listened to
				_ = r.send(nil) // one that is gone is noticed with the first line
			}
		}
		err = s.plane.Log(r.Context(), owner.ID, q, logWriter{r, q.Follow})
		if r.Context().Err() != nil {
			return nil // somebody has ended it
		}
		return err
	}
}

// The headers of logs: where the answer begins in the log, and how many bytes that has.
const (
	LogOffset = "Stopgate-Log-Offset"
	LogSize   = "Stopgate-Log-Size"
)

// log is what is asked for of a log.
func (r *request) log() (q LogQuery, err error) {
	q = LogQuery{Follow: r.query["follow"] == "1", Step: r.query["step"]}
	q.Offset, _ = strconv.ParseInt(r.query["offset"], 10, 64) // they were checked
	q.Limit, _ = strconv.ParseInt(r.query["limit"], 10, 64)
	q.Tail, _ = strconv.Atoi(r.query["tail"])
	switch {
	case q.Follow && q.Limit > 0:
		err = invalid("follow and limit cannot be combined")
	case q.Tail > 0 && (q.Limit > 0 || q.Offset > 0):
		err = invalid("tail cannot be combined with offset or limit")
	}
	return q, err
}

// logWriter writes a log to a client.
type logWriter struct {
	*request
	now bool // each piece as it comes
}

func (w logWriter) Write(p []byte) (int, error) {
	if w.now {
		return len(p), w.send(p)
	}
	_ = http.NewResponseController(w.w).SetWriteDeadline(time.Now().Add(writing))
	return w.w.Write(p)
}

// events sends events until the client goes or the daemon stops. Another goroutine asks
// the plane for them, so that the heart beats while there are none.
func (s *server) events(r *request) error {
	after, err := r.after()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	found := make(chan []byte)
	go func() {
		defer close(found)
		s.collect(ctx, r, after, found)
	}()
	defer func() { // no stream outlives its request
		cancel()
		for range found {
		}
	}()
	return r.relay(found)
}

// collect asks the plane for events until there are no more.
func (s *server) collect(ctx context.Context, r *request, after uint64, found chan<- []byte) {
	pass := func(text []byte) (wanted bool) {
		select {
		case found <- text:
			return true
		case <-ctx.Done():
			return false
		}
	}
	defer func() {
		if trouble := recover(); trouble != nil {
			pass(s.serverSent(r, daemonapi.Event{}, panicked(trouble)))
		}
	}()
	for e, err := range s.plane.Events(ctx, r.wanted(), after) {
		if !pass(s.serverSent(r, e, err)) || err != nil {
			return
		}
	}
}

// after is the position after which the client wants events. One that comes back says
// where it was.
func (r *request) after() (uint64, error) {
	text := r.query["after"]
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		if err := number(last); err != nil {
			return 0, invalid("Last-Event-ID: %v", err)
		}
		text = last
	}
	if text == "now" {
		return Now, nil
	}
	after, _ := strconv.ParseUint(text, 10, 64) // was checked
	return after, nil
}

// relay sends what is found, and heartbeats while nothing is.
func (r *request) relay(found <-chan []byte) error {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	text := []byte(": stopgate\n\n")
	for {
		if r.send(text) != nil {
			return nil // the client has gone, or is too slow
		}
		var more bool
		select {
		case text, more = <-found:
			if !more {
				return nil
			}
			beat.Reset(heartbeat)
		case <-beat.C:
			text = []byte(":\n\n")
		case <-r.Context().Done():
			return nil
		}
	}
}

// serverSent is an event, or an error, as it is sent.
func (s *server) serverSent(r *request, e daemonapi.Event, err error) []byte {
	if err != nil {
		return frame("event: error\n", s.failureOf(r.w, r.Request, err).Failure)
	}
	return frame("id: "+strconv.FormatUint(e.Position, 10)+"\n", e)
}

func frame(head string, content any) []byte {
	data, err := encode(content)
	if err != nil {
		data = []byte(`{"code":"internal","error":"cannot encode an event"}`)
		head = "event: error\n"
	}
	return append(append([]byte(head+"data: "), data...), "\n\n"...)
}
