package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate/internal/control/exchange"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Target is where traces go.
type Target struct {
	Endpoint string            // the base URL; empty for nowhere
	Headers  map[string]string // with secrets
}

// Options are what an exporter needs to know.
type Options struct {
	Version string
	// Target is asked before each request, so that a change of the configuration or of a secret counts at
	// once.
	Target func() (Target, error)
	// Count is told how many traces were sent, or dropped.
	Count func(n int, sent bool)
	// Trouble is told why traces are dropped, when that changes; nil when they are sent again.
	Trouble func(error)
}

const (
	// queued is how many stops wait for the receiver at most. More are dropped.
	queued = 2048
	// batch is how many go into one request.
	batch = 128
	// patience is how long a request may take.
	patience = 10 * time.Second
	// lastPatience is for what is left when the daemon ends.
	lastPatience = 2 * time.Second
)

// Exporter sends traces, one request after the other. It tries each once: traces are there to look at,
// and a receiver that is down must not cost the daemon anything.
type Exporter struct {
	Options
	queue chan *event.Record
	fault string        // that was told
	last  time.Duration // how long all that is left may take when the daemon ends
}

// New makes an exporter, whose Run sends.
func New(o Options) *Exporter {
	return &Exporter{Options: o, queue: make(chan *event.Record, queued), last: lastPatience}
}

// Add takes a record, which is not changed any more. It never waits: where too many wait already, the
// record is dropped.
func (e *Exporter) Add(r *event.Record) {
	if !IsStop(r) {
		return
	}
	select {
	case e.queue <- r:
	default:
		e.Count(1, false)
	}
}

// Run sends what is added, until the context ends. What is under way and what is left then has a moment.
func (e *Exporter) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(e.last, cancel) })()
	for {
		select {
		case <-ctx.Done():
			e.flush(sending)
			return
		case r := <-e.queue:
			e.send(sending, e.more(r))
		}
	}
}

// flush sends what is left, or drops it when the time is over.
func (e *Exporter) flush(ctx context.Context) {
	for {
		select {
		case r := <-e.queue:
			e.send(ctx, e.more(r))
		default:
			return
		}
	}
}

// more is a record with those that wait behind it, as many as go into one request.
func (e *Exporter) more(first *event.Record) []*event.Record {
	records := []*event.Record{first}
	for len(records) < batch {
		select {
		case r := <-e.queue:
			records = append(records, r)
		default:
			return records
		}
	}
	return records
}

// send sends the traces of some records, or drops them. Without a target there are none.
func (e *Exporter) send(ctx context.Context, records []*event.Record) {
	target, err := e.Target()
	if err == nil && target.Endpoint == "" {
		e.tell(nil)
		return
	}
	if err == nil {
		err = e.post(ctx, target, records)
	}
	e.Count(len(records), err == nil)
	e.tell(err)
}

// tell tells why traces are dropped, when that changes.
func (e *Exporter) tell(err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != e.fault {
		e.fault = fault
		e.Trouble(err)
	}
}

func (e *Exporter) post(ctx context.Context, target Target, records []*event.Record) error {
	body, err := proto.Marshal(e.request(records))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address(target.Endpoint), bytes.NewReader(body))
	if err != nil {
		return errors.New("the endpoint is not a URL") // without a word of it
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("User-Agent", "stopgated/"+plain.Short(e.Version, longestText))
	for name, value := range target.Headers {
		request.Header.Set(name, value)
	}
	reply, err := exchange.Do(request, func(int) bool { return true })
	switch {
	case err != nil:
		return exchange.WithoutURL(err)
	case !reply.OK():
		return fmt.Errorf("the receiver answered %d %s", reply.Status, http.StatusText(reply.Status))
	}
	return refused(reply.Body)
}

// address is where the receiver of an endpoint takes traces. An endpoint that names that itself is taken
// as it is.
func address(endpoint string) string {
	const path = "/v1/traces"
	return strings.TrimSuffix(strings.TrimRight(endpoint, "/"), path) + path
}

// refused is what a receiver says that it did not take although it answered with success. An answer that
// is none says nothing.
func refused(body []byte) error {
	var answer collectorpb.ExportTraceServiceResponse
	if proto.Unmarshal(body, &answer) != nil || answer.GetPartialSuccess().GetRejectedSpans() <= 0 {
		return nil
	}
	return fmt.Errorf("the receiver rejected %d spans: %s", answer.PartialSuccess.RejectedSpans, plain.Cut(plain.Line(answer.PartialSuccess.ErrorMessage), 200))
}

// request is what the receiver gets.
func (e *Exporter) request(records []*event.Record) *collectorpb.ExportTraceServiceRequest {
	var spans []*tracepb.Span
	for _, r := range records {
		spans = append(spans, Spans(r)...)
	}
	service := append(text("service.name", "stopgate"), text("service.version", e.Version)...)
	return &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: service},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "stopgate"}, Spans: spans}},
	}}}
}
