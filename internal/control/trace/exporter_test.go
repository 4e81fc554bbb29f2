package trace

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate/internal/record/event"
)

// desk is an exporter, and what it tells.
type desk struct {
	*Exporter
	mu            sync.Mutex
	sent, dropped int
	told          []string
	changed       chan struct{}
}

func newDesk(target func() (Target, error)) *desk {
	d := &desk{changed: make(chan struct{}, 1)}
	d.Exporter = New(Options{
		Version: "v1", Target: target,
		Count: func(n int, sent bool) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if sent {
				d.sent += n
			} else {
				d.dropped += n
			}
			select {
			case d.changed <- struct{}{}:
			default:
			}
		},
		Trouble: func(err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.told = append(d.told, fmt.Sprint(err))
		},
	})
	return d
}

// run sends until all of some traces are sent or dropped.
func (d *desk) run(t *testing.T, all int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(ctx)
	}()
	for {
		d.mu.Lock()
		over := d.sent+d.dropped >= all
		d.mu.Unlock()
		if over {
			break
		}
		<-d.changed
	}
	cancel()
	<-ended
}

// receiver is an OTLP receiver, and what it got.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	headers []http.Header
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var got collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &got)
		}
		if err != nil || request.URL.Path != "/v1/traces" || request.Method != "POST" || request.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", request.Method, request.URL, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.headers = append(r.headers, request.Header)
		for _, resource := range got.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
		if answer != nil {
			answer(w)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) target() (Target, error) {
	return Target{Endpoint: r.URL, Headers: map[string]string{"Authorization": "Bearer secret"}}, nil
}

func TestTheReceiverGetsTheTree(t *testing.T) {
	r := newReceiver(t, nil)
	d := newDesk(r.target)
	d.Add(stop("01CALL"))
	d.Add(&event.Record{Kind: event.Received, Event: "Stop"})
	d.Add(&event.Record{Kind: event.Answered, Event: "PreToolUse"})
	d.run(t, 1)
	if got, want := draw(r.spans), draw(Spans(stop("01CALL"))); got != want || d.sent != 1 || d.dropped != 0 || len(d.told) != 0 {
		t.Errorf("%d sent, %d dropped, told %q, got\n%s\nwant\n%s", d.sent, d.dropped, d.told, got, want)
	}
	if got := r.headers[0].Get("Authorization"); got != "Bearer secret" {
		t.Errorf("%q", got)
	}
}

// Where no server listens nothing is sent, and that is logged once.
func TestADeadReceiver(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	endpoint := "http://" + listener.Addr().String()
	check(t, listener.Close())
	d := newDesk(func() (Target, error) { return Target{Endpoint: endpoint}, nil })
	for round := range 3 {
		d.Add(stop("01CALL"))
		d.run(t, round+1)
	}
	if d.dropped != 3 || len(d.told) != 1 || strings.Contains(d.told[0], "http://") {
		t.Errorf("%d dropped, told %q", d.dropped, d.told)
	}
}

// A receiver that never answers costs nothing but its traces: adding does not wait, what waits has a
// limit, and the end comes soon.
func TestASlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 1)
		stuck := make(chan struct{})
		d := newDesk(func() (Target, error) {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-stuck
			return Target{}, fmt.Errorf("no answer")
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			d.Run(ctx)
		}()
		d.Add(stop("first"))
		<-asked
		begin := time.Now()
		for range 3 * queued {
			d.Add(stop("more"))
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("adding took %v", waited)
		}
		synctest.Wait()
		if d.dropped != 2*queued {
			t.Errorf("%d dropped", d.dropped)
		}
		close(stuck)
		cancel()
		<-ended
		if d.sent != 0 || d.dropped != 3*queued+1 {
			t.Errorf("%d sent, %d dropped", d.sent, d.dropped)
		}
	})
}

// When the daemon ends, what is under way and what is left has a moment, whatever the receiver does.
func TestTheEndDoesNotWait(t *testing.T) {
	hang := make(chan struct{})
	begun := make(chan struct{}, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-hang
	}))
	defer server.Close()
	defer close(hang)
	d := newDesk(func() (Target, error) { return Target{Endpoint: server.URL}, nil })
	if d.last > 2*time.Second {
		t.Errorf("that is %v", d.last)
	}
	d.last = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(ctx)
	}()
	d.Add(stop("01A"))
	<-begun
	for range 3 * batch {
		d.Add(stop("01B"))
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(3 * patience): // the four requests would take longer
		t.Fatal("it waits")
	}
	if d.sent != 0 || d.dropped != 1+3*batch {
		t.Errorf("%d sent, %d dropped", d.sent, d.dropped)
	}
}

// What is in the queue when the daemon ends is sent.
func TestWhatIsLeftIsSent(t *testing.T) {
	r := newReceiver(t, nil)
	d := newDesk(r.target)
	d.last = time.Hour    // however slow this machine is
	for n := range 1000 { // stops of one second
		d.Add(stop(fmt.Sprint(n)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Run(ctx)
	traces := map[string]bool{}
	for _, s := range r.spans {
		traces[string(s.TraceId)] = true
	}
	if d.sent != 1000 || d.dropped != 0 || len(traces) != 1000 || len(r.headers) != (1000+batch-1)/batch {
		t.Errorf("%d sent, %d dropped, %d traces in %d requests", d.sent, d.dropped, len(traces), len(r.headers))
	}
}

func TestWhatAReceiverAnswers(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	partly, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too\nmany"}})
	check(t, err)
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string // what is told; empty for nothing
	}{
		"nothing":     {func(http.ResponseWriter) {}, ""},
		"some page":   {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }, ""},
		"an error":    {func(w http.ResponseWriter) { w.WriteHeader(503) }, "the receiver answered 503 Service Unavailable"},
		"not allowed": {func(w http.ResponseWriter) { w.WriteHeader(401) }, "the receiver answered 401 Unauthorized"},
		"partly":      {func(w http.ResponseWriter) { _, _ = w.Write(partly) }, "the receiver rejected 2 spans: too many"},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL+"/v1/traces")
			w.WriteHeader(307)
		}, "the receiver answered 307 Temporary Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, tt.answer)
			d := newDesk(r.target)
			d.Add(stop("01CALL"))
			d.run(t, 1)
			if got := strings.Join(d.told, "\n"); got != tt.want || (d.sent == 1) != (tt.want == "") {
				t.Errorf("%d sent, told %q", d.sent, got)
			}
		})
	}
	if len(elsewhere.headers) > 0 {
		t.Error("the secret went to where the receiver pointed")
	}
}

// Without an endpoint nothing is sent, and nothing counts as dropped.
func TestNoEndpoint(t *testing.T) {
	d := newDesk(func() (Target, error) { return Target{}, nil })
	d.Add(stop("01CALL"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Run(ctx)
	if d.sent+d.dropped+len(d.told) > 0 {
		t.Errorf("%d sent, %d dropped, told %q", d.sent, d.dropped, d.told)
	}
}

func TestAddress(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:4318":            "http://127.0.0.1:4318/v1/traces",
		"http://127.0.0.1:4318/":           "http://127.0.0.1:4318/v1/traces",
		"https://o.example/api/otlp":       "https://o.example/api/otlp/v1/traces",
		"https://o.example/otlp/v1/traces": "https://o.example/otlp/v1/traces",
	} {
		if got := address(endpoint); got != want {
			t.Errorf("%s: %s, want %s", endpoint, got, want)
		}
	}
}

// BenchmarkAdd is what a stop costs the daemon for traces, beside what is done in the background.
func BenchmarkAdd(b *testing.B) {
	d := newDesk(func() (Target, error) { return Target{}, nil })
	r := stop("01CALL")
	b.ReportAllocs()
	for b.Loop() {
		d.Add(r)
		<-d.queue
	}
}

// BenchmarkSpans is what is done in the background.
func BenchmarkSpans(b *testing.B) {
	d := newDesk(func() (Target, error) { return Target{}, nil })
	records := []*event.Record{stop("01CALL")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := proto.Marshal(d.request(records)); err != nil {
			b.Fatal(err)
		}
	}
}
