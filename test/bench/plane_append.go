//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	modernc "modernc.org/sqlite"

	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/control/store/sqlite"
)

// appendLimit is for how many microseconds each of 64 writers' events may take: 20,000 of them
// in a second.
const appendLimit = 50

// slowSync is how long a sync takes on a disk that is slower than ours.
const slowSync = 2 * time.Millisecond

// appends measures how fast the store makes events durable, beside a file.
func appends(ctx context.Context, l *lab, r *report) error {
	data, err := lifeSteps()
	if err != nil {
		return err
	}
	modernc.RegisterConnectionHook(sleepBeforeCommits)
	for _, slow := range []bool{false, true} {
		title := "**Durable appends**, against a file to which one goroutine writes and syncs what waits"
		if slow {
			title = "**Durable appends with a slow disk**: before each sync of the file and each commit there are 2 ms of sleep"
		}
		r.table(title)
		for _, writers := range []int{1, 64} {
			if err := l.appendsBy(ctx, r, writers, slow, data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *lab) appendsBy(ctx context.Context, r *report, writers int, slow bool, data [][]byte) error {
	dir, err := l.state(appendDir(writers, slow))
	if err != nil {
		return err
	}
	file, err := newGroupFile(filepath.Join(dir, "file"), slow)
	if err != nil {
		return err
	}
	defer file.close()
	s, err := sqlite.Open(ctx, database(dir))
	if err != nil {
		return err
	}
	defer s.Close()
	// Long enough that what SQLite does now and then is in every round.
	rounds, each := 15, 6000
	if writers > 1 {
		each = 1000
	}
	if slow { // where the sleep is nearly all of it
		rounds, each = 10, each/20
	}
	versions := make([]store.Position, writers)
	m, err := turns(rounds, 2, func(i int) (took time.Duration, peak float64, err error) {
		begun := time.Now()
		var all errgroup.Group
		for w := range writers {
			all.Go(func() (err error) {
				subject := fmt.Sprintf("pipeline.%d", w)
				for n := 0; n < each && err == nil; n++ {
					if event := data[n%len(data)]; i == 0 {
						err = file.append(event)
					} else {
						versions[w], err = s.Append(ctx, store.NewEvent{Subject: subject, ID: fmt.Sprintf("%08d%024d", w, versions[w]), Expected: versions[w], Data: event})
					}
				}
				return err
			})
		}
		err = all.Wait()
		return time.Since(begun), 0, err
	})
	if err != nil {
		return err
	}
	name := func(what string, s *series) string {
		hands := "1 writer"
		if writers > 1 {
			hands = fmt.Sprintf("%d writers", writers)
		}
		return fmt.Sprintf("%s, %s, %.0f events a second", what, hands, float64(writers*each)/s.median().Seconds())
	}
	r.reference(name("file", &m[0]), &m[0])
	judged := figure{m[1].ratioTo(&m[0]), "times the file", 0}
	if writers > 1 && !slow {
		each := m[1].median().Seconds() * 1e6 / float64(writers*each)
		judged = figure{each, fmt.Sprintf("µs an event, %.1f times the file", m[1].ratioTo(&m[0])), appendLimit}
	}
	r.row(name("sqlite", &m[1]), &m[1], judged)
	return nil
}

func appendDir(writers int, slow bool) string {
	if slow {
		return fmt.Sprintf("append-slow-%d", writers)
	}
	return fmt.Sprintf("append-%d", writers)
}

// sleepBeforeCommits has each commit of a store with a slow disk take longer.
func sleepBeforeCommits(conn modernc.ExecQuerierContext, dsn string) error {
	hooks, ok := conn.(modernc.HookRegisterer)
	if !ok {
		return fmt.Errorf("%T has no hook for commits", conn)
	}
	if strings.Contains(dsn, "append-slow-") {
		hooks.RegisterCommitHook(func() int32 {
			time.Sleep(slowSync)
			return 0
		})
	}
	return nil
}

// groupFile is a file that many append to: one goroutine writes what waits, with one sync
// for all of it.
type groupFile struct {
	file    *os.File
	slow    bool
	waiting chan groupEvent
	ended   sync.WaitGroup
}

type groupEvent struct {
	data   []byte
	answer chan error
}

func newGroupFile(path string, slow bool) (*groupFile, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	g := &groupFile{file: file, slow: slow, waiting: make(chan groupEvent, 1024)}
	g.ended.Go(g.run)
	return g, nil
}

func (g *groupFile) append(data []byte) error {
	e := groupEvent{data, make(chan error, 1)}
	g.waiting <- e
	return <-e.answer
}

func (g *groupFile) run() {
	var batch []groupEvent
	var text []byte
	for first := range g.waiting {
		batch, text = append(batch[:0], first), append(text[:0], first.data...)
		for len(g.waiting) > 0 {
			e := <-g.waiting
			batch, text = append(batch, e), append(text, e.data...)
		}
		_, err := g.file.Write(text)
		if g.slow {
			time.Sleep(slowSync)
		}
		if err == nil {
			err = datasync(g.file)
		}
		for _, e := range batch {
			e.answer <- err
		}
	}
}

func (g *groupFile) close() {
	close(g.waiting)
	g.ended.Wait()
	_ = g.file.Close() // nobody will read it
}
