package fleet

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/project/config"
)

// counted is a reader that counts what it has taken.
type counted struct {
	*reader
	taken atomic.Int64
}

func (c *counted) Take(m link.Message) {
	c.reader.Take(m)
	c.taken.Add(1)
}

// BenchmarkFleetOf200 is three seconds of a fleet of 200 machines, as one of them sees it: each sends a beat, and each
// tenth a view. The servers have no copies of it here, and do not sync.
func BenchmarkFleetOf200(b *testing.B) {
	const members = 200
	hub := linktest.New(b)
	own := &ownPlane{owners: map[string]daemonapi.Owner{}}
	f := New(Options{Plane: own, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Config: func() *config.Global { return &config.Global{} }})
	l := hub.Member("laptop")
	f.set(l)
	c := &counted{reader: &reader{f, l, f.Observer()}}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go l.Follow(ctx, c, l.AllViews(), l.Beat("*"))

	sender, sent := hub.Member("sender"), int64(0)
	publish := func(subject string, text []byte, err error) {
		if err == nil {
			_, err = sender.JS.PublishAsync(subject, text, jetstream.WithStallWait(time.Minute))
		}
		if err != nil {
			b.Fatal(err)
		}
		sent++
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	count := uint64(0)
	for b.Loop() {
		count++
		for m := range members {
			name := fmt.Sprint("m", m)
			text, err := beat.Beat{Life: name, Count: count, Version: "v1", Labels: []string{"gpu"}, Room: 3}.Encode()
			publish(sender.Beat(name), text, err)
			if m%10 == 0 {
				o := owner(m<<16 | int(count%50))
				publish(sender.View(name, o.ID), encoded(b, o), nil)
			}
		}
		for end := time.Now().Add(time.Minute); c.taken.Load() < sent; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				b.Fatalf("%d of %d came", c.taken.Load(), sent)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sent), "ns/message")
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024, "KiB-kept")
}
