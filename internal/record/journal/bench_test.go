package journal

import (
	"testing"

	"github.com/stopgate/stopgate/internal/record/event"
)

func BenchmarkAppend(b *testing.B) {
	for name, hookEvent := range map[string]string{"plain": "PostToolUse", "durable": "Stop"} {
		b.Run(name, func(b *testing.B) {
			j := tempJournal(b, Limits{})
			b.ReportAllocs()
			for b.Loop() {
				mustAppend(b, j, event.Record{Kind: event.Received, Event: hookEvent, Session: "s", Project: "/home/me/project"})
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	j := tempJournal(b, Limits{})
	for range 1000 {
		mustAppend(b, j, event.Record{Kind: event.Received, Event: "PostToolUse", Session: "s", Project: "/home/me/project"})
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(readAll(b, j, Position{})); n != 1000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
