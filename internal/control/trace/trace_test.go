package trace

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate/internal/record/event"
)

var noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

// stop is a stop that was answered at noon after ten seconds: a guard, then two gates at once, one of
// which failed.
func stop(call string) *event.Record {
	at := func(d time.Duration) int64 { return noon.Add(d - 10*time.Second).UnixMilli() }
	return &event.Record{
		Kind: event.Answered, Event: "Stop", Call: call, Time: noon, DurationMS: 10_000, Decision: "block",
		Session: "5d1c", Project: "/home/me/work/shop", PromptHash: "hash",
		Verdicts: []event.Verdict{
			{Keeper: "guard", Outcome: "passed", StartMS: at(time.Second), DurationMS: 500},
			{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true, Message: "a message", StartMS: at(2 * time.Second), DurationMS: 7000},
		},
		Trees: []event.Tree{{Root: "/home/me/work/shop", Gates: []event.Gate{
			{Job: "check:.:test", Outcome: "failed", Why: "exit 1", StartMS: at(3 * time.Second), DurationMS: 5000, Log: "/log"},
			{Job: "check:packages/one:lint", Outcome: "passed", StartMS: at(3 * time.Second), DurationMS: 1000},
			{Job: "check:.:vet", Outcome: "proven"},
			{Job: "check:docs:spell", Outcome: "skipped"},
		}, More: 2}},
	}
}

// draw draws a trace: each span below its parent, with when it was and what it says.
func draw(spans []*tracepb.Span) string {
	var b strings.Builder
	var below func(parent []byte, indent string)
	start := fromNano(spans[0].StartTimeUnixNano)
	below = func(parent []byte, indent string) {
		for _, s := range spans {
			if string(s.ParentSpanId) != string(parent) {
				continue
			}
			fmt.Fprintf(&b, "%s%s %v-%v", indent, s.Name, fromNano(s.StartTimeUnixNano).Sub(start), fromNano(s.EndTimeUnixNano).Sub(start))
			if s.Status != nil {
				fmt.Fprintf(&b, " %s", s.Status.Message)
			}
			for _, a := range s.Attributes {
				fmt.Fprintf(&b, " %s=%v", strings.TrimPrefix(a.Key, "stopgate."), valueOf(a.Value))
			}
			b.WriteString("\n")
			below(s.SpanId, indent+"  ")
		}
	}
	below(nil, "")
	return b.String()
}

func valueOf(v *commonpb.AnyValue) any {
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	}
	return nil
}

func TestSpansOfAStop(t *testing.T) {
	want := `hook Stop 0s-10s call=01CALL event=Stop decision=block session=5d1c project=shop gates.skipped=3
  keeper guard 1s-1.5s keeper=guard outcome=passed
  keeper gates 2s-9s failed keeper=gates outcome=failed status=failed blocked=true
    gate test 3s-8s failed gate=test gate.kind=check gate.entry_point=. outcome=failed tree=shop
    gate lint 3s-4s gate=lint gate.kind=check gate.entry_point=packages/one outcome=passed tree=shop
    gate vet 2s-2s gate=vet gate.kind=check gate.entry_point=. outcome=proven tree=shop
`
	if diff := cmp.Diff(want, draw(Spans(stop("01CALL")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Older records do not say when keepers and gates began: they follow each other.
func TestSpansWithoutStarts(t *testing.T) {
	r := stop("01CALL")
	for i := range r.Verdicts {
		r.Verdicts[i].StartMS = 0
	}
	for i := range r.Trees[0].Gates {
		r.Trees[0].Gates[i].StartMS = 0
	}
	got := draw(Spans(r))
	for _, want := range []string{"keeper guard 0s-500ms", "keeper gates 500ms-7.5s", "gate test 500ms-5.5s"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The same stop is the same trace; another one has no id in common with it.
func TestIDs(t *testing.T) {
	ids := func(call string) (all []string) {
		for _, s := range Spans(stop(call)) {
			if len(s.TraceId) != 16 || len(s.SpanId) != 8 {
				t.Errorf("%x, %x", s.TraceId, s.SpanId)
			}
			all = append(all, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId))
		}
		return all
	}
	one := ids("01A")
	if diff := cmp.Diff(one, ids("01A")); diff != "" {
		t.Errorf("the same stop again:\n%s", diff)
	}
	seen := map[string]int{}
	for i, id := range append(one, ids("01B")...) {
		if i%2 == 1 || i == 0 || i == len(one) { // a trace's spans share its id
			seen[id]++
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s has %d spans", id, n)
		}
	}
}

var hostile = []string{
	"", "a\nb", `quo"te`, "\x1b[31mred", "\xff\xfe", "nul\x00", strings.Repeat("x", 1<<20), strings.Repeat("\xff", 1<<20), strings.Repeat("/", 1<<16), ":::",
}

// Whatever a record says, its trace can be sent, is small and lies within the call.
func TestHostileRecords(t *testing.T) {
	times := []time.Time{{}, time.Unix(-1, 0), noon, time.Date(2262, 12, 31, 0, 0, 0, 0, time.UTC), time.Unix(math.MaxInt64/2, 0)}
	for _, name := range hostile {
		for _, at := range times {
			for _, ms := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
				gate := event.Gate{Job: name, Outcome: name, Why: name, StartMS: ms, DurationMS: ms, Log: name}
				r := &event.Record{
					Kind: event.Answered, Event: "Stop", Call: name, Time: at, DurationMS: ms, Decision: name, Session: name, Project: name,
					Verdicts: []event.Verdict{{Keeper: name, Outcome: name, Status: name, Message: name, StartMS: ms, DurationMS: ms, Cost: event.Cost{USD: math.NaN()}}, {Keeper: "gates", StartMS: ms}},
					Trees:    []event.Tree{{Root: name, More: ms, Gates: []event.Gate{gate, {Job: "check:" + name + ":" + name, Outcome: "passed"}}}},
				}
				examine(t, Spans(r))
			}
		}
	}
}

func examine(t *testing.T, spans []*tracepb.Span) {
	t.Helper()
	root := spans[0]
	for _, s := range spans {
		if s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%q is from %d to %d, the call from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, root.StartTimeUnixNano, root.EndTimeUnixNano)
		}
		texts := []string{s.Name}
		for _, a := range s.Attributes {
			texts = append(texts, a.Value.GetStringValue())
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || len(text) > longestText+10 || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("%.80q", text)
			}
		}
	}
	data, err := proto.Marshal(&tracepb.ScopeSpans{Spans: spans})
	if err != nil || len(data) > 10_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// No message, reason, log or prompt is in a trace, and no path but that of an entry point.
func TestTracesHoldNoText(t *testing.T) {
	text := draw(Spans(stop("01CALL")))
	for _, secret := range []string{"a message", "exit 1", "/log", "hash", "/home"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
}

func TestManyGatesInOneTrace(t *testing.T) {
	r := stop("01CALL")
	for n := range 2000 {
		r.Trees[0].Gates = append(r.Trees[0].Gates, event.Gate{Job: fmt.Sprintf("check:p/%d:t", n), Outcome: "passed"})
	}
	spans := Spans(r)
	if len(spans) != 3+mostGates || !strings.Contains(draw(spans[:1]), "gates.dropped=1503") {
		t.Errorf("%d spans: %s", len(spans), draw(spans[:1]))
	}
}

// A second call for the same stop gave the first one's answer: there is one trace of them.
func TestAnAdoptedStopHasNoTrace(t *testing.T) {
	r := event.Record{Kind: event.Answered, Event: "Stop", Verdicts: []event.Verdict{{Keeper: "gates", Status: "passed"}}}
	if !IsStop(&r) {
		t.Error("a stop has none")
	}
	r.Verdicts = []event.Verdict{{Keeper: "chain", Status: "adopted"}}
	if IsStop(&r) {
		t.Error("an adopted one has one")
	}
}
