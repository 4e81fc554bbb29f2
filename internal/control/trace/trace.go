// Package trace makes traces of stops out of the journal's records, and sends them to an OpenTelemetry
// receiver: OTLP, which is protobuf over HTTP.
//
// A trace is one hook call: the call, the keepers that it asked, and the gates that ran. Its ids are made
// of the call's id, so that the same stop is the same trace, however often it is sent.
package trace

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostGates bounds the spans of a trace: an entry point such as packages/* can stand for thousands.
	mostGates = 500
	// longestText bounds an attribute, in bytes.
	longestText = 128
)

// IsStop reports whether a record is the answer to a stop: what there are traces of. A second call for the
// same stop has none.
func IsStop(r *event.Record) bool {
	return r.Kind == event.Answered && (r.Event == "Stop" || r.Event == "SubagentStop") && !r.Adopted()
}

// Spans are the spans of a stop, its own first. They hold names, ids and numbers: no prompt, no message
// and no output.
func Spans(r *event.Record) []*tracepb.Span {
	b := builder{call: sha256.Sum256([]byte("stopgate\x00" + r.Call)), whole: between(r.Time.Add(-span(r.DurationMS)), r.Time)}
	root := b.span(nil, b.whole, "hook "+r.Event,
		text("stopgate.call", r.Call), text("stopgate.event", r.Event), text("stopgate.decision", r.Decision),
		text("stopgate.session", r.Session), text("stopgate.project", base(r.Project)),
	)
	gates := b.keepers(root, r.Verdicts)
	b.gates(root, gates, r.Trees)
	return b.spans
}

// builder makes the spans of one call.
type builder struct {
	call  [sha256.Size]byte // a hash of its id
	whole period
	spans []*tracepb.Span
}

// keepers adds the keepers, and returns the one that asked the gates; nil where there is none.
func (b *builder) keepers(root *tracepb.Span, verdicts []event.Verdict) (gates *tracepb.Span) {
	at := b.whole.start
	for _, v := range verdicts {
		took := b.whole.place(v.StartMS, v.DurationMS, at)
		at = took.end
		s := b.span(root, took, "keeper "+plain.Short(v.Keeper, longestText),
			text("stopgate.keeper", v.Keeper), text("stopgate.outcome", v.Outcome), text("stopgate.status", v.Status),
			flag("stopgate.blocked", v.Blocked), flag("stopgate.reused", v.Reused), number("stopgate.cost_usd", v.Cost.USD),
		)
		s.Status = statusOf(v.Outcome)
		if v.Keeper == "gates" && gates == nil {
			gates = s
		}
	}
	return gates
}

// gates adds the gates that were asked in all trees. How many others there are, the call says.
func (b *builder) gates(root, keeper *tracepb.Span, trees []event.Tree) {
	parent, within := root, b.whole
	if keeper != nil {
		parent, within = keeper, period{fromNano(keeper.StartTimeUnixNano), fromNano(keeper.EndTimeUnixNano)}
	}
	asked, skipped, dropped := 0, int64(0), int64(0)
	for _, tree := range trees {
		skipped += max(tree.More, 0)
		for _, g := range tree.Gates {
			switch {
			case g.Outcome == "skipped":
				skipped++
			case asked == mostGates:
				dropped++
			default:
				asked++
				b.gate(parent, within, tree, g)
			}
		}
	}
	root.Attributes = slices.Concat(root.Attributes, count("stopgate.gates.skipped", skipped), count("stopgate.gates.dropped", dropped))
}

func (b *builder) gate(parent *tracepb.Span, within period, tree event.Tree, g event.Gate) {
	kind, rest, _ := strings.Cut(g.Job, ":")
	at := strings.LastIndexByte(rest, ':')
	name, entry := rest[at+1:], rest[:max(at, 0)]
	if rest == "" { // such as "lock"
		name = kind
	}
	s := b.span(parent, within.place(g.StartMS, g.DurationMS, within.start), "gate "+plain.Short(name, longestText),
		text("stopgate.gate", name), text("stopgate.gate.kind", kind), text("stopgate.gate.entry_point", entry),
		text("stopgate.outcome", g.Outcome), text("stopgate.tree", base(tree.Root)),
	)
	s.Status = statusOf(g.Outcome)
}

// span adds a span. Attributes without a value are left out.
func (b *builder) span(parent *tracepb.Span, at period, name string, attributes ...[]*commonpb.KeyValue) *tracepb.Span {
	s := &tracepb.Span{
		TraceId: b.id(16, "trace"), SpanId: b.id(8, "span "+strconv.Itoa(len(b.spans))),
		Name: name, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nano(at.start), EndTimeUnixNano: nano(at.end),
		Attributes: slices.Concat(attributes...),
	}
	if parent != nil {
		s.ParentSpanId = parent.SpanId
	}
	b.spans = append(b.spans, s)
	return s
}

// id is made of the call and of what it is for. It is never all zeros, which would be none.
func (b *builder) id(size int, what string) []byte {
	sum := sha256.Sum256(append(b.call[:], what...))
	sum[0] |= 1
	return sum[:size:size]
}

// statusOf marks what failed. A block alone is not an error: the hook did its work.
func statusOf(outcome string) *tracepb.Status {
	if outcome == "failed" || outcome == "could_not_run" {
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: outcome}
	}
	return nil
}

// period is when something happened.
type period struct{ start, end time.Time }

func between(start, end time.Time) period { return period{start, end} }

// place is the period of something inside. Where it is not recorded when that began, it began at a
// given time; what lies outside, as after the clock was set, is moved inside.
func (p period) place(startMS, durationMS int64, otherwise time.Time) period {
	start := otherwise
	if startMS > 0 {
		start = time.UnixMilli(startMS)
	}
	start = p.clamp(start)
	return period{start, p.clamp(start.Add(span(durationMS)))}
}

func (p period) clamp(t time.Time) time.Time {
	switch {
	case t.Before(p.start):
		return p.start
	case t.After(p.end):
		return p.end
	}
	return t
}

// longest is more than any hook call takes.
const longest = 7 * 24 * time.Hour

// span is a duration of a record, which may be nonsense.
func span(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), longest.Milliseconds())) * time.Millisecond
}

// nano is Unix time; 0 for what has none.
func nano(t time.Time) uint64 {
	if t.Year() < 1970 || t.Year() > 2261 {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

func fromNano(n uint64) time.Time { return time.Unix(0, int64(n)) }

func text(key, value string) []*commonpb.KeyValue {
	if value = plain.Short(value, longestText); value == "" {
		return nil
	}
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}})
}

func flag(key string, value bool) []*commonpb.KeyValue {
	if !value {
		return nil
	}
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}})
}

func number(key string, value float64) []*commonpb.KeyValue {
	if !(value > 0) { // which no NaN is
		return nil
	}
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: value}})
}

func count(key string, value int64) []*commonpb.KeyValue {
	if value == 0 {
		return nil
	}
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}})
}

func attribute(key string, value *commonpb.AnyValue) []*commonpb.KeyValue {
	return []*commonpb.KeyValue{{Key: key, Value: value}}
}

// base is the last part of a path: where a person keeps a project is not told.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
