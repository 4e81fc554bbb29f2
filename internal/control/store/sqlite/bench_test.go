package sqlite

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var check = checktest.OK

// benchData is as large as a usual step of the engine.
var benchData = bytes.Repeat([]byte(`{"fact":"x"}`), 1000/12)

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := mustOpen(b, tempPath(b))
			b.ReportAllocs()
			share(b, writers, func(writer, n int) {
				subject := fmt.Sprintf("run.%d", writer)
				var version store.Position
				for range n {
					var err error
					version, err = s.Append(b.Context(), store.NewEvent{Subject: subject, ID: rand.Text(), Expected: version, Data: benchData})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkPlainFile is what a file can do: the same bytes, appended and synced for all
// that wait at once, and nothing else.
func BenchmarkPlainFile(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "file"))
			check(b, err)
			defer f.Close()
			waiting := make(chan chan error, 1024)
			go groupCommit(f, waiting)
			share(b, writers, func(_, n int) {
				for range n {
					answer := make(chan error, 1)
					waiting <- answer
					if err := <-answer; err != nil {
						b.Error(err)
						return
					}
				}
			})
			close(waiting)
		})
	}
}

func groupCommit(f *os.File, waiting <-chan chan error) {
	for first := range waiting {
		batch := []chan error{first}
		for len(waiting) > 0 {
			batch = append(batch, <-waiting)
		}
		_, err := f.Write(bytes.Repeat(benchData, len(batch)))
		if err == nil {
			err = f.Sync()
		}
		for _, answer := range batch {
			answer <- err
		}
	}
}

// share has so many writers do b.N things together.
func share(b *testing.B, writers int, do func(writer, n int)) {
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range writers {
		n := b.N / writers
		if i < b.N%writers {
			n++
		}
		wg.Go(func() { do(i, n) })
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReplay(b *testing.B) {
	sizes := []int{100_000}
	if os.Getenv("STOPGATE_FULL") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, size := range sizes {
		b.Run(fmt.Sprintf("events=%d", size), func(b *testing.B) {
			s := mustOpen(b, tempPath(b))
			share(b, 64, func(writer, _ int) {
				subject := fmt.Sprintf("run.%d", writer)
				var version store.Position
				for range size / 64 {
					version, _ = s.Append(b.Context(), store.NewEvent{Subject: subject, ID: rand.Text(), Expected: version, Data: benchData[:300]})
				}
			})
			b.ResetTimer()
			b.StartTimer()
			for b.Loop() {
				n := 0
				for _, err := range s.ReadAll(b.Context(), 0) {
					check(b, err)
					n++
				}
				if n != size/64*64 {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/event")
		})
	}
}
